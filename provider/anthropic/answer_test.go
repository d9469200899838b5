package anthropic_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/provider/anthropic"
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
	reply, err = anthropic.New(anthropic.Config{BaseURL: "http://local", HTTPClient: client}).
		Ask(t.Context(), parley.Call{Model: model, Messages: []parley.Message{user("hello")}}, func(d parley.Delta) {
			said.WriteString(d.Text)
			thoughts.WriteString(d.Reasoning)
		})
	return reply, said.String(), thoughts.String(), err
}

func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

func begin(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func say(i int, text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%q}}`, i, text)
}

const (
	start = `{"type":"message_start","message":{"type":"message","model":"m","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":500,"output_tokens":1}}}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":7}}}`
	stop  = `{"type":"message_stop"}`
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	begun := parley.Usage{InputTokens: 543, CachedInputTokens: 40, CacheCreationInput: 500, OutputTokens: 1}
	counted := begun
	counted.OutputTokens, counted.ReasoningTokens = 9, 7
	full := parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: counted}
	with := func(text, finish string) parley.Reply {
		return parley.Reply{Text: text, FinishReason: finish, Model: "m", Usage: counted}
	}
	for _, c := range []struct {
		name, body string
		want       parley.Reply
		code       parley.Code
		thought    string
	}{
		{name: "stream", body: events(start, begin(0, `{"type":"text","text":""}`), say(0, "hi"), end, stop), want: full},
		{name: "no stop", body: events(start, say(0, "hi"), end), want: full},
		{name: "no reason", body: events(say(0, "hi"), stop), want: parley.Reply{Text: "hi", FinishReason: "stop"}},
		{name: "cut cleanly", body: events(start, say(0, "hi")), want: parley.Reply{Text: "hi", Model: "m", Usage: begun}, code: parley.CodeUpstreamError},
		{name: "cut in an event", body: events(start, say(0, "hi"), say(0, "there")[:30]), want: parley.Reply{Text: "hi", Model: "m", Usage: begun}, code: parley.CodeUpstreamError},
		{
			name: "searched",
			body: events(start, say(0, "Searching."), begin(1, `{"type":"server_tool_use","name":"web_search"}`),
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}`,
				begin(2, `{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"u"}]}`),
				begin(3, `{"type":"text","text":""}`), say(3, "It is "), begin(4, `{"type":"text","text":""}`), say(4, "so."), end, stop),
			want: with("Searching.\n\nIt is so.", "stop"),
		},
		{
			name: "thinks", thought: "hm, so",
			body: events(start, begin(0, `{"type":"thinking","thinking":""}`),
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, so"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`, say(1, "hi"), end, stop),
			want: full,
		},
		{
			name: "counted at the end", body: events(start, say(0, "hi"),
				`{"type":"message_delta","delta":{"stop_reason":"stop_sequence"},"usage":{"input_tokens":30,"output_tokens":9}}`, stop),
			want: parley.Reply{Text: "hi", FinishReason: "stop", Model: "m", Usage: parley.Usage{
				InputTokens: 570, CachedInputTokens: 40, CacheCreationInput: 500, OutputTokens: 9,
			}},
		},
		{name: "paused", body: events(start, say(0, "hi"), strings.Replace(end, "end_turn", "pause_turn", 1), stop), want: with("hi", "pause_turn")},
		{name: "half refused", body: events(start, say(0, "hi"), strings.Replace(end, "end_turn", "refusal", 1), stop), want: with("hi", "filter")},
		{name: "refused", body: events(start, strings.Replace(end, "end_turn", "refusal", 1), stop), want: with("", "filter"), code: parley.CodeContentFiltered},
		{name: "error by its name", body: events(start) + "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", want: parley.Reply{Model: "m", Usage: begun}, code: parley.CodeUpstreamError},
		{name: "timeout inside", body: events(`{"type":"error","error":{"type":"timeout_error","message":"?"}}`), code: parley.CodeTimeout},
		{name: "events to come", body: events(start, `{"type":"novelty","delta":[1]}`, say(0, "hi"), end, stop), want: full},
		{
			name: "whole", body: `{"type":"message","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":2}}`,
			want: parley.Reply{Text: "hi", FinishReason: "length", Model: "m", Usage: parley.Usage{InputTokens: 3, OutputTokens: 2}}, thought: "hm",
		},
		{name: "whole error", body: `{"type":"error","error":{"type":"permission_error","message":"no"}}`, code: parley.CodeAuthenticationFailed},
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
	f.Add(events(start, begin(0, `{"type":"text","text":"a"}`), say(0, "hi"), end, stop))
	f.Add(events(start, `{"type":"error","error":{"type":"api_error"}}`))
	f.Add(`{"type":"message","content":[{"type":"text","text":"hi"}]}`)
	f.Add(": x\n\nevent: ping\ndata: {}\n\n")
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
		if u := reply.Usage; u.InputTokens < u.CachedInputTokens+u.CacheCreationInput || u.ReasoningTokens > u.OutputTokens {
			t.Errorf("usage %+v", u)
		}
	})
}
