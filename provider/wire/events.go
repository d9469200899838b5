package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// MaxEvent is the most that one event may hold. The last event of some vendors
// repeats the whole answer.
const MaxEvent = 32 << 20

// Comment is the name under which [Events] shows a comment line.
const Comment = ":"

// Events reads an event stream. Lines may be of any length up to the bound; they
// end in LF or CRLF.
type Events struct {
	lines *lines
	name  string
	data  []byte
	err   error
	// MaxEvent bounds one event; zero means the package's limit.
	MaxEvent int
}

// NewEvents reads the event stream r.
func NewEvents(r io.Reader) *Events { return &Events{lines: newLines(r)} }

// Peek returns the first byte that is no white space, without consuming it. It
// tells an event stream from a JSON document or an HTML page.
func (e *Events) Peek() (byte, error) {
	for {
		b, err := e.lines.r.Peek(1)
		if err != nil {
			return 0, err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			_, _ = e.lines.r.Discard(1)
		default:
			return b[0], nil
		}
	}
}

// Rest returns everything that has not been read as events.
func (e *Events) Rest() ([]byte, error) { return io.ReadAll(e.lines.r) }

// All yields each event's name, which may be empty, and its data lines joined
// with LF. The data is valid until the next event. A comment between events is
// yielded as [Comment] without data: whoever sends one is alive. It ends with
// the stream; then Err says why.
func (e *Events) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for {
			name, data, ok := e.next()
			if !ok || !yield(name, data) {
				return
			}
		}
	}
}

// Err is what ended the stream, nil if it came to its proper end.
func (e *Events) Err() error {
	if errors.Is(e.err, io.EOF) {
		return nil
	}
	return e.err
}

func (e *Events) next() (name string, data []byte, ok bool) {
	e.data = e.data[:0]
	named, lines := false, 0
	for e.err == nil {
		var line []byte
		line, e.err = e.lines.next()
		if e.err != nil && (!errors.Is(e.err, io.EOF) || len(line) == 0) {
			break
		}
		if len(line) == 0 {
			if lines > 0 {
				return e.event(named), e.data, true
			}
			named = false
			continue
		}
		field, value := cutField(line)
		switch string(field) {
		case "":
			if lines == 0 && !named {
				return Comment, nil, true
			}
		case "event":
			named = true
			if string(value) != e.name { // most events have the name of the one before
				e.name = string(value)
			}
		case "data":
			if lines++; lines > 1 {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			if len(e.data) > e.limit() {
				e.err = &TooLargeError{What: "an event", Limit: int64(e.limit())}
			}
		}
	}
	// Some servers forget the blank line after the last event.
	if errors.Is(e.err, io.EOF) && lines > 0 {
		return e.event(named), e.data, true
	}
	return "", nil, false
}

func (e *Events) event(named bool) string {
	if !named {
		return ""
	}
	return e.name
}

func (e *Events) limit() int {
	if e.MaxEvent > 0 {
		return e.MaxEvent
	}
	return MaxEvent
}

// cutField splits a line as the standard has it: a comment's field is empty.
func cutField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte{':'})
	return field, bytes.TrimPrefix(value, []byte{' '})
}

// lines reads lines of any length. The last one may lack its line feed; it comes
// together with io.EOF.
type lines struct {
	r    *bufio.Reader
	long []byte
	any  bool
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 8<<10)} }

// next returns a line without its end. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if l.long = append(l.long, line...); len(l.long) > MaxEvent {
				return nil, &TooLargeError{What: "a line", Limit: MaxEvent}
			}
			line, err = l.r.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if !l.any {
		l.any = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), err
}
