package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/openai"
	"parley/provider/wire"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

func say(text string) string {
	return fmt.Sprintf(`{"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text)
}

const chatEnd = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func TestChatAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       parley.Reply
		code       parley.Code
		reasoning  string
	}{
		{
			name: "whole", body: `{"model":"m","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`,
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: parley.Usage{InputTokens: 3, OutputTokens: 2}},
		},
		{
			name: "whole error", body: ` {"error":{"message":"overloaded","code":503}}`,
			code: parley.CodeUpstreamError,
		},
		{
			name: "error as text", body: events(say("hi"), `{"error":"no memory left"}`),
			want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError,
		},
		{
			name: "numeric code", body: events(`{"error":{"message":"wait","code":429}}`),
			code: parley.CodeRateLimitExceeded,
		},
		{
			name: "no mark at the end", body: events(say("hi"), chatEnd),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"},
		},
		{
			name: "no blank line at the end", body: strings.TrimSpace(events(say("hi"), chatEnd, "[DONE]")),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"},
		},
		{
			name: "no reason", body: events(say("hi"), "[DONE]"),
			want: parley.Reply{
				Text: "hi", FinishReason: "stop", Model: "m",
				Notes: []string{"the provider did not say why the answer ended"},
			},
		},
		{
			name: "cut cleanly", body: events(say("hi")),
			want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError,
		},
		{
			name: "cut in an event", body: events(say("hi"), say("there")[:30]),
			want: parley.Reply{Text: "hi", Model: "m"}, code: parley.CodeUpstreamError,
		},
		{
			name: "CRLF", body: strings.ReplaceAll(events(say("hi"), chatEnd, "[DONE]"), "\n", "\r\n"),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"},
		},
		{
			name: "thinks aloud", body: events(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
				`{"choices":[{"delta":{"reasoning":"so","reasoning_content":"so"}}]}`, say("hi"), chatEnd),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"}, reasoning: "hmso",
		},
		{
			name: "parts", body: events(`{"choices":[{"delta":{"content":[{"type":"text","text":"hi"}]}}]}`, chatEnd),
			want: parley.Reply{Text: "hi", FinishReason: "stop"},
		},
		{
			name: "refusal", body: events(`{"choices":[{"delta":{"content":null,"refusal":"I will not."}}]}`, chatEnd),
			want: parley.Reply{Text: "I will not.", FinishReason: "filter"},
		},
		{
			name: "fields of odd types", body: events(`{"model":7,"choices":[{"delta":{"content":"hi","reasoning":{}}}],"usage":"none"}`, chatEnd),
			want: parley.Reply{Text: "hi", FinishReason: "stop"},
		},
		{
			name: "second choice", body: events(say("hi"), `{"choices":[{"index":1,"delta":{"content":"ho"},"finish_reason":"length"}]}`, chatEnd),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"},
		},
		{
			name: "reasoning counted apart",
			body: events(say("hi"), chatEnd, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":42,"completion_tokens_details":{"reasoning_tokens":30}}}`),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: parley.Usage{InputTokens: 10, OutputTokens: 32, ReasoningTokens: 30}},
		},
		{
			name: "cache hits",
			body: events(say("hi"), chatEnd, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":"2","prompt_cache_hit_tokens":8}}`),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: parley.Usage{InputTokens: 10, CachedInputTokens: 8}},
		},
		{name: "nothing", body: "", code: parley.CodeUpstreamError},
		{name: "nothing but the mark", body: events("[DONE]"), want: parley.Reply{FinishReason: "stop"}, code: parley.CodeUpstreamError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, openai.WireChat, c.body, c.want, c.code, c.reasoning)
		})
	}
}

func TestResponsesAnswers(t *testing.T) {
	t.Parallel()
	delta := func(item int, text string) string {
		return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":%q}`, item, text)
	}
	const end = `{"type":"response.completed","response":{"status":"completed","model":"m","usage":null}}`
	whole := `{"object":"response","status":"completed","model":"m","error":null,"output":[{"type":"reasoning","summary":[]},` +
		`{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":2}}`
	full := parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: parley.Usage{InputTokens: 3, OutputTokens: 2}}
	for _, c := range []struct {
		name, body string
		want       parley.Reply
		code       parley.Code
		reasoning  string
	}{
		{name: "whole", body: whole, want: full},
		{name: "whole error", body: `{"error":{"type":"server_error","message":"oops"}}`, code: parley.CodeUpstreamError},
		{name: "only the end has text", body: events(`{"type":"response.completed","response":` + whole + `}`), want: full},
		{
			name: "several messages", body: events(delta(0, "Searching."), delta(2, "Found"), delta(2, " it."), end),
			want: parley.Reply{Text: "Searching.\n\nFound it.", FinishReason: "stop", Model: "m"},
		},
		{
			name: "refusal", body: events(`{"type":"response.refusal.delta","delta":"I will not."}`, end),
			want: parley.Reply{Text: "I will not.", FinishReason: "filter", Model: "m"},
		},
		{
			name: "reasoning text", body: events(`{"type":"response.reasoning_text.delta","delta":"hm"}`, delta(0, "hi"), end),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"}, reasoning: "hm",
		},
		{
			name: "nested error", body: events(delta(0, "hi"), `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long."}}`),
			want: parley.Reply{Text: "hi"}, code: parley.CodeContextLengthExceeded,
		},
		{
			name: "failed without a word", body: events(`{"type":"response.failed","response":{"status":"failed"}}`),
			code: parley.CodeUpstreamError,
		},
		{
			name: "mark instead of the end", body: events(delta(0, "hi"), "[DONE]"),
			want: parley.Reply{Text: "hi"}, code: parley.CodeUpstreamError,
		},
		{name: "events to come", body: events(`{"type":"response.novelty","x":[1]}`, delta(0, "hi"), end), want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, openai.WireResponses, c.body, c.want, c.code, c.reasoning)
		})
	}
}

func check(t *testing.T, wireName, body string, want parley.Reply, code parley.Code, reasoning string) {
	t.Helper()
	client := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return answered(body), nil })}
	p := openai.New(openai.Config{ID: "custom", BaseURL: "http://local/v1", Wire: wireName, HTTPClient: client})
	var thought strings.Builder
	got, err := p.Ask(t.Context(), parley.Call{Model: model, Messages: []parley.Message{user("hello")}}, func(d parley.Delta) {
		thought.WriteString(d.Reasoning)
	})
	if parley.ErrorCode(err) != code {
		t.Errorf("error %v, want code %q", err, code)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	if thought.String() != reasoning {
		t.Errorf("reasoning %q, want %q", thought.String(), reasoning)
	}
}

// Whatever arrives says that the upstream is alive.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	for _, wireName := range []string{openai.WireResponses, openai.WireChat} {
		_, _, deltas, err := ask(t, openai.Config{ID: "custom", Wire: wireName},
			fakeai.Script{Text: "hi", Chunks: 1, Comments: true}, fullCall())
		if err != nil {
			t.Fatal(err)
		}
		empty := 0
		for _, d := range deltas {
			if d == (parley.Delta{}) {
				empty++
			}
		}
		if empty < 3 {
			t.Errorf("%s: %d empty deltas of %d, want one for each comment and event", wireName, empty, len(deltas))
		}
	}
}

// A connection is used again, which takes reading the response to its end.
func TestConnectionReuse(t *testing.T) {
	t.Parallel()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	client := wire.Client(nil)
	t.Cleanup(client.CloseIdleConnections)
	for _, wireName := range []string{openai.WireResponses, openai.WireChat} {
		p := openai.New(openai.Config{ID: "custom", BaseURL: up.OpenAI(), Wire: wireName, HTTPClient: client})
		for i := range 3 {
			reused := false
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused },
			})
			if _, err := p.Ask(ctx, fullCall(), nil); err != nil {
				t.Fatal(err)
			}
			if i > 0 && !reused {
				t.Errorf("%s: ask %d made a new connection", wireName, i)
			}
		}
	}
}
