package fakeai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// wire is one vendor's way of asking and answering.
type wire struct {
	name string
	// read fills the request from its body, or says why the vendor would not.
	read   func(*Request) *fault
	refuse func(fault) []byte
	whole  func(*answer) []byte
	stream func(*answer) encoder
}

// encoder appends the events of one stream to a buffer. What one call appends is
// written and flushed together.
type encoder interface {
	open(b []byte) []byte
	reasoning(b []byte, delta string) []byte
	text(b []byte, delta string) []byte
	end(b []byte) []byte
	// fail ends the stream with an error instead.
	fail(b []byte, f fault) []byte
}

var (
	responsesWire = &wire{WireResponses, readResponses, openAIFault, wholeResponse, streamResponse}
	chatWire      = &wire{WireChat, readChat, openAIFault, wholeChat, streamChat}
	anthropicWire = &wire{WireAnthropic, readAnthropic, anthropicFault, wholeAnthropic, streamAnthropic}
	geminiWire    = &wire{WireGemini, readGemini, googleFault, wholeGemini, streamGemini}
)

// wireFor knows the wire by the end of the path, so that any prefix will do.
// What no wire serves gets the one whose vendor would be asked, and is not ok.
func wireFor(r *http.Request) (w *wire, ok bool) {
	path := r.URL.Path
	if r.Method == http.MethodPost && r.Header.Get("Content-Encoding") == "" {
		switch {
		case strings.HasSuffix(path, "/responses"):
			return responsesWire, true
		case strings.HasSuffix(path, "/chat/completions"):
			return chatWire, true
		case strings.HasSuffix(path, "/messages"):
			return anthropicWire, true
		}
		if _, method := geminiTarget(path); method != "" {
			return geminiWire, true
		}
	}
	return vendorOf(r), false
}

func vendorOf(r *http.Request) *wire {
	path := r.URL.Path
	switch {
	case r.Header.Get("Anthropic-Version") != "" || strings.HasSuffix(path, "/messages"):
		return anthropicWire
	case strings.Contains(path, "/v1beta/") && !strings.Contains(path, "/openai/"):
		return geminiWire
	}
	return chatWire
}

// answer is what a script came to for one request.
type answer struct {
	req             *Request
	serial          int64
	created         int64
	text, reasoning string
	usage           *Usage // nil: leave it out
	finish          string
	failure         fault // for FinishFailed
	comments        bool
}

func (a *answer) id(prefix string) string { return fmt.Sprintf("%s%024x", prefix, a.serial) }

// mustJSON encodes our own structs, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fakeai: encode %T: %v", v, err))
	}
	return b
}
