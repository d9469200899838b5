package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"parley"
	"parley/provider/openai"
)

// Whatever an upstream sends, there is either an answer or an error of our own,
// and the deltas are the reply.
func FuzzAnswer(f *testing.F) {
	f.Add(true, responsesStream(3))
	f.Add(false, chatStream(3))
	f.Add(false, `{"choices":[{"message":{"content":[{"text":"a"}]}}]}`)
	f.Add(true, `{"status":"incomplete","incomplete_details":{"reason":"x"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`)
	f.Add(false, events(say("a"), `{"error":{"code":7}}`))
	f.Add(true, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":\"no\"}}\n\n")
	f.Fuzz(func(t *testing.T, asResponses bool, body string) {
		wireName := openai.WireChat
		if asResponses {
			wireName = openai.WireResponses
		}
		client := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return answered(body), nil })}
		p := openai.New(openai.Config{ID: "custom", BaseURL: "http://local/v1", Wire: wireName, HTTPClient: client})
		var text strings.Builder
		reply, err := p.Ask(t.Context(), parley.Call{Model: model, Messages: []parley.Message{user("hello")}}, func(d parley.Delta) {
			text.WriteString(d.Text)
		})
		if reply.Text != text.String() {
			t.Errorf("the deltas make %q, the reply is %q", text.String(), reply.Text)
		}
		if _, known := errors.AsType[*parley.Error](err); err != nil && !known {
			t.Errorf("error is a %T", err)
		}
		if err == nil && (reply.Text == "" || reply.FinishReason == "") {
			t.Errorf("neither an answer nor an error: %+v", reply)
		}
		if u := reply.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CachedInputTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens {
			t.Errorf("usage %+v", u)
		}
	})
}
