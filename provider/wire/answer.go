package wire

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"parley"
)

// The neutral finish reasons.
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishFilter = "filter"
)

// Answer is an answer as it grows. What is said goes to the stream at once; a
// piece without text only shows that the upstream is alive.
type Answer struct {
	// Reply is filled as the vendor tells; its Text comes at the end.
	Reply parley.Reply
	// Ended says that the vendor has said all, even if the stream goes on.
	Ended bool

	text   strings.Builder
	gap    bool
	stream func(parley.Delta)
}

// Say appends to the answer.
func (a *Answer) Say(text string) {
	if a.gap && text != "" {
		a.gap = false
		if a.text.Len() > 0 {
			text = "\n\n" + text
		}
	}
	a.text.WriteString(text)
	a.stream(parley.Delta{Text: text})
}

// Think passes on what is no part of the answer.
func (a *Answer) Think(text string) { a.stream(parley.Delta{Reasoning: text}) }

// Alive says that something arrived.
func (a *Answer) Alive() { a.stream(parley.Delta{}) }

// Break makes what is said next a paragraph of its own, as what is said before
// and after a search of the web should be.
func (a *Answer) Break() { a.gap = true }

// Name notes which model answers, as the provider calls it.
func (a *Answer) Name(model string) {
	if model != "" {
		a.Reply.Model = Plain(model, 200)
	}
}

// Said tells whether the answer has any text yet.
func (a *Answer) Said() bool { return a.text.Len() > 0 }

func (a *Answer) result() parley.Reply {
	a.Reply.Text = a.text.String()
	return a.Reply
}

// Decoder reads the answers of one vendor.
type Decoder interface {
	// Event takes one event of a stream and reports whether it was the last.
	// Without one that is, the answer is complete if it has Ended by the end of
	// the stream.
	Event(a *Answer, name string, data []byte) (done bool, err error)
	// Whole takes an answer that came as one JSON document, as gateways send
	// that do not stream.
	Whole(a *Answer, body []byte) error
}

// SaidError is an error that the provider reports inside an answer.
type SaidError struct{ Words Words }

// Error implements the error interface.
func (e *SaidError) Error() string { return e.Words.Type + " " + e.Words.Code }

var (
	errCut      = errors.New("the stream ended before the answer did")
	errGarbled  = errors.New("an event is no JSON")
	errNoStream = errors.New("the body has no event")
	errHTML     = errors.New("the body is an HTML page")

	// ErrNothing is for bodies that hold no answer at all.
	ErrNothing = errors.New("the body is empty")
)

// read reads an answer to its end. The first byte decides what kind of body it
// is, not the header: gateways get that wrong.
func (a *Answer) read(body io.Reader, d Decoder) error {
	events := NewEvents(body)
	switch c, err := events.Peek(); {
	case errors.Is(err, io.EOF):
		return ErrNothing
	case err != nil:
		return err
	case c == '<':
		return errHTML
	case c == '{' || c == '[':
		whole, err := events.Rest()
		if err != nil {
			return err
		}
		return d.Whole(a, whole)
	}
	seen := false
	for name, data := range events.All() {
		if name == Comment {
			a.Alive()
			continue
		}
		seen = true
		if done, err := d.Event(a, name, data); done || err != nil {
			return err
		}
	}
	switch {
	case a.Ended: // all was said, even if the connection broke after that
		return nil
	case events.Err() != nil:
		return events.Err()
	case !seen:
		return errNoStream
	}
	return errCut
}

// Decode ignores fields of an unexpected type: a vendor's novelty in a field we
// barely need must not cost the answer.
func Decode(data []byte, v any) error {
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &mismatch) {
		return errGarbled
	}
	return nil
}

// maxCount is more tokens than any request can have.
const maxCount = 1_000_000_000

// Count is a number of tokens in a vendor's JSON. What cannot be one is zero.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = 0
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f > 0 && f <= maxCount {
		*c = Count(f)
	}
	return nil
}
