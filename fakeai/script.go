package fakeai

import (
	"net/http"
	"time"
)

// Neutral finish reasons; each wire has its own word for them.
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishFilter = "filter"
	// FinishFailed ends a Responses answer with response.failed, filled from
	// Message and Code. The other wires have no such ending and send the word.
	FinishFailed = "failed"
)

// Script says how a model answers. The zero value echoes the question.
//
// "Deltas" below are the pieces of the text. Reasoning is streamed before the
// first one and is not counted. A fault placed after more deltas than there are
// happens after the last one, before the events that end the stream. In an
// answer that is not streamed there are no deltas: CutAfter, HangAfter and
// HoldChunks then act in the middle of the body and ErrorAfter is an error
// status.
type Script struct {
	// Text is the answer. When it and Reply are empty, the answer is "ECHO: "
	// and the last user text.
	Text string
	// Reply computes the answer and wins over Text. It runs on the handler's
	// goroutine, after Latency and Hold and before the response header.
	Reply func(*Request) string
	// Reasoning is streamed before the text.
	Reasoning string
	// Chunks is the number of deltas the text is cut into, never inside a rune;
	// fewer when the text has fewer runes. 0 means words of about 20 bytes.
	Chunks int
	// Usage is what the answer claims to have cost. Nil means a quarter of the
	// bytes, rounded up.
	Usage *Usage
	// NoUsage leaves usage out.
	NoUsage bool
	// Finish is FinishStop (the default), FinishLength, FinishFilter, or any
	// other word, which is sent as it is.
	Finish string

	// Latency passes before the response header.
	Latency time.Duration
	// ChunkDelay passes between deltas.
	ChunkDelay time.Duration
	// Hold is waited for before the response header, after Latency. Nil does
	// not hold.
	Hold <-chan struct{}
	// HoldChunks is waited for after HoldAfter deltas (0: after the header and
	// the opening events). Nil does not hold.
	HoldAfter  int
	HoldChunks <-chan struct{}

	// Status is sent instead of an answer, with Body or, from 400 on, an error
	// in the vendor's shape.
	Status int
	// Body is sent raw instead of anything shaped; without Status, as a 200.
	Body string
	// Header is added to the response and replaces what is there.
	Header http.Header
	// Message, Type and Code fill the vendor's error; empty ones get what the
	// vendor says for that status. In Google's errors Type is the status word
	// and Code the reason in its ErrorInfo.
	Message, Type, Code string

	// CutAfter closes the connection after that many deltas; -1 closes it
	// before the first byte, 0 never.
	CutAfter int
	// Hang never answers: until the client goes away or the upstream closes.
	Hang bool
	// HangAfter sends nothing more after that many deltas and keeps the
	// connection open; -1 hangs after the opening events, 0 never.
	HangAfter int
	// ErrorAfter sends the vendor's error inside the 200 after that many deltas
	// and ends the stream; -1 before the first delta, 0 never.
	ErrorAfter int
	// Comments puts SSE comment lines (": keepalive") before every event.
	Comments bool
	// Empty is a success without any text.
	Empty bool
}

// Usage is what an answer cost, in tokens, counted as OpenAI counts: Input
// includes CachedInput and CacheWrite, Output includes Reasoning. The wires that
// count apart (Anthropic's input_tokens, Google's candidatesTokenCount) get the
// difference.
type Usage struct {
	Input, CachedInput, CacheWrite, Output, Reasoning int
}

// usage is nil when the script leaves it out.
func (s *Script) usage(r *Request, text string) *Usage {
	if s.NoUsage {
		return nil
	}
	if s.Usage != nil {
		u := *s.Usage
		return &u
	}
	reasoning := tokens(len(s.Reasoning))
	return &Usage{
		Input:     tokens(len(r.Text())),
		Output:    tokens(len(text)) + reasoning,
		Reasoning: reasoning,
	}
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

func (s *Script) text(r *Request) string {
	switch {
	case s.Empty:
		return ""
	case s.Reply != nil:
		return s.Reply(r)
	case s.Text != "":
		return s.Text
	}
	return "ECHO: " + r.lastUser()
}
