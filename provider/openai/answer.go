package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"parley"
	"parley/provider/wire"
)

// The neutral finish reasons.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishFilter = "filter"
)

var (
	errCut      = errors.New("the stream ended before the answer did")
	errGarbled  = errors.New("an event is no JSON")
	errNoStream = errors.New("the body has no event")
	errHTML     = errors.New("the body is an HTML page")
	errNothing  = errors.New("the body is empty")
)

// saidError is an error that the provider reports inside an answer.
type saidError struct{ words wire.Words }

func (e *saidError) Error() string { return e.words.Type + " " + e.words.Code }

// answer is an answer as it grows.
type answer struct {
	text   strings.Builder
	reply  parley.Reply
	stream func(parley.Delta)
	// item is the output item that the text so far came from.
	item  int
	ended bool
}

func newAnswer(stream func(parley.Delta)) *answer {
	if stream == nil {
		stream = func(parley.Delta) {}
	}
	return &answer{stream: stream}
}

func (a *answer) say(text string) {
	a.text.WriteString(text)
	a.stream(parley.Delta{Text: text})
}

func (a *answer) think(text string) { a.stream(parley.Delta{Reasoning: text}) }

func (a *answer) alive() { a.stream(parley.Delta{}) }

// begin separates the messages of an answer that has several, as answers that
// searched the web do.
func (a *answer) begin(item int) {
	if item != a.item && a.text.Len() > 0 {
		a.say("\n\n")
	}
	a.item = item
}

// name notes which model answers, as the provider calls it.
func (a *answer) name(model string) {
	if model != "" {
		a.reply.Model = wire.Plain(model, 200)
	}
}

func (a *answer) result() parley.Reply {
	a.reply.Text = a.text.String()
	return a.reply
}

// decoder reads one wire. It is done when it says so, or at the end of the
// stream if the answer has ended by then.
type decoder interface {
	event(a *answer, name string, data []byte) (done bool, err error)
	whole(a *answer, body []byte) error
}

// read reads an answer to its end. Some gateways answer whole when asked for a
// stream, or call a stream JSON, so the first byte decides and not the header.
func (p *Provider) read(body io.Reader, a *answer) error {
	var d decoder = chatDecoder{}
	if p.wire == WireResponses {
		d = responseDecoder{}
	}
	events := wire.NewEvents(body)
	switch c, err := events.Peek(); {
	case errors.Is(err, io.EOF):
		return errNothing
	case err != nil:
		return err
	case c == '<':
		return errHTML
	case c == '{' || c == '[':
		return readWhole(events, d, a)
	}
	seen := false
	for name, data := range events.All() {
		if name == wire.Comment {
			a.alive()
			continue
		}
		seen = true
		if done, err := d.event(a, name, data); done || err != nil {
			return err
		}
	}
	switch {
	case a.ended: // all was said, even if the connection broke after that
		return nil
	case events.Err() != nil:
		return events.Err()
	case !seen:
		return errNoStream
	}
	return errCut
}

func readWhole(events *wire.Events, d decoder, a *answer) error {
	body, err := events.Rest()
	if err != nil {
		return err
	}
	return d.whole(a, body)
}

// decode ignores fields of an unexpected type: a vendor's novelty in a field we
// barely need must not cost the answer.
func decode(data []byte, v any) error {
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &mismatch) {
		return errGarbled
	}
	return nil
}

// present tells whether a raw field is there and holds something.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}
