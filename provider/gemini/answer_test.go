package gemini_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/provider/gemini"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// hear has body sent as the answer and returns what came of it.
func hear(t *testing.T, body string) (reply parley.Reply, text, thought string, err error) {
	t.Helper()
	client := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	})}
	var said, thoughts strings.Builder
	reply, err = gemini.New(gemini.Config{BaseURL: "http://local", HTTPClient: client}).
		Ask(t.Context(), parley.Call{Model: model, Messages: []parley.Message{user("hello")}}, func(d parley.Delta) {
			said.WriteString(d.Text)
			thoughts.WriteString(d.Reasoning)
		})
	return reply, said.String(), thoughts.String(), err
}

func events(data ...string) string {
	return "data: " + strings.Join(data, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func say(text string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%q}],"role":"model"}}],"modelVersion":"m"}`, text)
}

func end(reason string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":%q}],"modelVersion":"m",`+
		`"usageMetadata":{"promptTokenCount":100,"toolUsePromptTokenCount":20,"cachedContentTokenCount":80,"candidatesTokenCount":5,"thoughtsTokenCount":30}}`, reason)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	counted := parley.Usage{InputTokens: 120, CachedInputTokens: 80, OutputTokens: 35, ReasoningTokens: 30}
	with := func(text, finish string) parley.Reply {
		return parley.Reply{Text: text, FinishReason: finish, Model: "m", Usage: counted}
	}
	for _, c := range []struct {
		name, body string
		want       parley.Reply
		code       parley.Code
		thought    string
	}{
		{name: "stream", body: events(say("h"), say("i"), end("STOP")), want: with("hi", "stop")},
		{name: "length", body: events(say("hi"), end("MAX_TOKENS")), want: with("hi", "length")},
		{name: "prohibited", body: events(say("hi"), end("PROHIBITED_CONTENT")), want: with("hi", "filter")},
		{name: "blocklist", body: events(say("hi"), end("BLOCKLIST")), want: with("hi", "filter")},
		{name: "spii", body: events(say("hi"), end("SPII")), want: with("hi", "filter")},
		{name: "recitation", body: events(end("RECITATION")), want: with("", "filter"), code: parley.CodeContentFiltered},
		{name: "another reason", body: events(say("hi"), end("LANGUAGE")), want: with("hi", "LANGUAGE")},
		{name: "cut cleanly", body: events(say("hi")), want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError},
		{name: "cut in an event", body: events(say("hi"), say("there")[:30]), want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError},
		{
			name: "thinks", thought: "hm",
			body: events(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"h"},{"inlineData":{}}]}}]}`, say("i"), end("STOP")),
			want: with("hi", "stop"),
		},
		{name: "second candidate", body: events(`{"candidates":[{"index":1,"content":{"parts":[{"text":"ho"}]},"finishReason":"MAX_TOKENS"}]}`, say("hi"), end("STOP")), want: with("hi", "stop")},
		{name: "fields of odd types", body: events(`{"modelVersion":7,"candidates":[{"content":{"parts":[{"text":"hi","thought":"?"}]}}]}`, end("STOP")), want: with("hi", "stop")},
		{
			name: "blocked", body: `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}`,
			want: parley.Reply{Usage: parley.Usage{InputTokens: 7}}, code: parley.CodeContentFiltered,
		},
		{name: "error inside", body: events(say("hi"), `{"error":{"code":503,"message":"?","status":"UNAVAILABLE"}}`), want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError},
		{name: "whole", body: strings.Replace(end("STOP"), `"text":""`, `"text":"hi"`, 1), want: with("hi", "stop")},
		{name: "list", body: "[" + say("h") + ",\r\n" + say("i") + "," + end("STOP") + "]", want: with("hi", "stop")},
		{name: "error in a list", body: `[{"error":{"code":429,"message":"?","status":"RESOURCE_EXHAUSTED"}}]`, code: parley.CodeRateLimitExceeded},
		{name: "something else", body: `{"hello":"world"}`, want: parley.Reply{FinishReason: "stop"}, code: parley.CodeUpstreamError},
		{name: "nothing", body: "", code: parley.CodeUpstreamError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, thought, err := hear(t, c.body)
			if parley.ErrorCode(err) != c.code {
				t.Errorf("error %v, want code %q", err, c.code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			if thought != c.thought {
				t.Errorf("reasoning %q, want %q", thought, c.thought)
			}
		})
	}
}

// Whatever an upstream sends, there is either an answer or an error of our own,
// and the deltas are the reply.
func FuzzAnswer(f *testing.F) {
	f.Add(events(say("hi"), end("STOP")))
	f.Add(events(`{"error":{"code":7}}`))
	f.Add("[" + say("h") + "," + end("SAFETY") + "]")
	f.Add(": x\n\ndata: {\"promptFeedback\":{\"blockReason\":\"OTHER\"}}\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		reply, text, _, err := hear(t, body)
		if reply.Text != text {
			t.Errorf("the deltas make %q, the reply is %q", text, reply.Text)
		}
		if _, known := errors.AsType[*parley.Error](err); err != nil && !known {
			t.Errorf("error is a %T", err)
		}
		if err == nil && (reply.Text == "" || reply.FinishReason == "") {
			t.Errorf("neither an answer nor an error: %+v", reply)
		}
		if u := reply.Usage; u.CachedInputTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens {
			t.Errorf("usage %+v", u)
		}
	})
}
