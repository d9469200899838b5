package fakeai

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The names of the wires, as Request.Wire has them.
const (
	WireResponses = "responses"
	WireChat      = "chat"
	WireAnthropic = "anthropic"
	WireGemini    = "gemini"
	WireModels    = "models"
)

// Request is one request as it arrived. It does not change once it has been
// recorded, so it may be read while its answer is still going out.
type Request struct {
	// Wire is one of the Wire constants, or empty for a path that none serves.
	Wire         string
	Method, Path string
	Query        url.Values
	Header       http.Header
	// Body is the raw bytes, JSON the same decoded; JSON is nil when the body
	// is no JSON object.
	Body   []byte
	JSON   map[string]any
	Model  string
	Stream bool
	// System is what the wire calls instructions, system messages, system or
	// systemInstruction.
	System string
	// Messages leaves the system ones out; a tool's result counts as the user's.
	Messages []Message
	At       time.Time

	gone, done chan struct{}
	leave      sync.Once
}

// Message is one message, the same for all wires.
type Message struct {
	Role   string // "user" or "assistant"
	Text   string // the text parts, joined with "\n"
	Images int
}

func newRequest(r *http.Request, body []byte) *Request {
	return &Request{
		Method: r.Method,
		Path:   r.URL.Path,
		Query:  r.URL.Query(),
		Header: r.Header.Clone(),
		Body:   body,
		At:     time.Now(),
		gone:   make(chan struct{}),
		done:   make(chan struct{}),
	}
}

// Gone is closed when the client went away before the response was complete.
// Once Done is closed, Gone no longer changes.
func (r *Request) Gone() <-chan struct{} { return r.gone }

// Done is closed when the handler has returned.
func (r *Request) Done() <-chan struct{} { return r.done }

// Text is System and the texts of all messages, joined with "\n".
func (r *Request) Text() string {
	var b strings.Builder
	b.WriteString(r.System)
	for i, m := range r.Messages {
		if i > 0 || r.System != "" {
			b.WriteByte('\n')
		}
		b.WriteString(m.Text)
	}
	return b.String()
}

func (r *Request) lastUser() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.Text
		}
	}
	return ""
}

func (r *Request) addSystem(text string) {
	if r.System != "" {
		r.System += "\n"
	}
	r.System += text
}

func (r *Request) markGone() { r.leave.Do(func() { close(r.gone) }) }

// watch marks the request gone as soon as ctx ends. The returned function stops
// watching and reports false when the client had gone by then.
func (r *Request) watch(ctx context.Context) (settle func() bool) {
	stop := context.AfterFunc(ctx, r.markGone)
	var once sync.Once
	here := true
	return func() bool {
		once.Do(func() {
			// The context may have ended without its function having begun yet.
			if here = stop() && ctx.Err() == nil; !here {
				r.markGone()
			}
		})
		return here
	}
}
