package fakeai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/fakeai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dialect is one wire as a client knows it: how to ask, and where in the answer
// things are.
type dialect struct {
	name      string
	path      func(model string, stream bool) string
	body      func(model, question string, stream bool) string
	text      []any // path to the text in a whole answer
	delta     []any // path to the text in an event
	reasoning []any // path to the reasoning in an event
	finish    []any // path to the finish word, in a whole answer and in an event
	end       string
}

var dialects = []dialect{
	{
		name: fakeai.WireResponses,
		path: fixed("/v1/responses"),
		body: func(model, question string, stream bool) string {
			return fmt.Sprintf(`{"model":%q,"instructions":"be brief","input":%q,"stream":%v}`, model, question, stream)
		},
		text:   []any{"output", 0, "content", 0, "text"},
		delta:  []any{"delta"},
		finish: []any{"response", "incomplete_details", "reason"},
		end:    "response.completed",
	},
	{
		name: fakeai.WireChat,
		path: fixed("/v1/chat/completions"),
		body: func(model, question string, stream bool) string {
			options := ""
			if stream {
				options = `"stream_options":{"include_usage":true},`
			}
			return fmt.Sprintf(`{"model":%q,%s"messages":[{"role":"system","content":"be brief"},`+
				`{"role":"user","content":%q}],"stream":%v}`, model, options, question, stream)
		},
		text:      []any{"choices", 0, "message", "content"},
		delta:     []any{"choices", 0, "delta", "content"},
		reasoning: []any{"choices", 0, "delta", "reasoning_content"},
		finish:    []any{"choices", 0, "finish_reason"},
		end:       "[DONE]",
	},
	{
		name: fakeai.WireAnthropic,
		path: fixed("/v1/messages"),
		body: func(model, question string, stream bool) string {
			return fmt.Sprintf(`{"model":%q,"max_tokens":99,"system":"be brief",`+
				`"messages":[{"role":"user","content":%q}],"stream":%v}`, model, question, stream)
		},
		text:      []any{"content", 0, "text"},
		delta:     []any{"delta", "text"},
		reasoning: []any{"delta", "thinking"},
		finish:    []any{"delta", "stop_reason"},
		end:       "message_stop",
	},
	{
		name: fakeai.WireGemini,
		path: func(model string, stream bool) string {
			if stream {
				return "/v1beta/models/" + model + ":streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/" + model + ":generateContent"
		},
		body: func(_, question string, _ bool) string {
			return fmt.Sprintf(`{"systemInstruction":{"parts":[{"text":"be brief"}]},`+
				`"contents":[{"role":"user","parts":[{"text":%q}]}]}`, question)
		},
		text:   []any{"candidates", 0, "content", "parts", 0, "text"},
		delta:  []any{"candidates", 0, "content", "parts", 0, "text"},
		finish: []any{"candidates", 0, "finishReason"},
		end:    "STOP",
	},
}

func fixed(path string) func(string, bool) string {
	return func(string, bool) string { return path }
}

// eachDialect runs the test once per wire, against an upstream of its own.
func eachDialect(t *testing.T, test func(t *testing.T, up *fakeai.Server, d dialect)) {
	t.Helper()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t), d)
		})
	}
}

func start(t testing.TB) *fakeai.Server {
	t.Helper()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	return up
}

// deadline is only for tests that would otherwise hang when they fail.
func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// client has its own connections, which go with the test.
func client(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func post(ctx context.Context, t testing.TB, url, body string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(req.URL.Path, "/messages") {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return client(t).Do(req)
}

func (d dialect) ask(ctx context.Context, t testing.TB, up *fakeai.Server, stream bool) *http.Response {
	t.Helper()
	resp, err := post(ctx, t, up.URL+d.path("m", stream), d.body("m", "why?", stream))
	if err != nil {
		t.Fatalf("ask: %v", err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// answer asks and reads everything; a broken body is returned with its error.
func (d dialect) answer(t testing.TB, up *fakeai.Server, stream bool) (status int, body string, err error) {
	t.Helper()
	resp := d.ask(deadline(t), t, up, stream)
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

type event struct {
	name, raw string
	data      any
}

// events splits a stream and fails the test on anything that is no event.
func events(t testing.TB, stream string) []event {
	t.Helper()
	var all []event
	for block := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		var e event
		for line := range strings.SplitSeq(block, "\n") {
			switch field, value, _ := strings.Cut(line, ": "); field {
			case "event":
				e.name = value
			case "data":
				e.raw = value
			case "":
			default:
				t.Fatalf("no line of an event: %q", line)
			}
		}
		if e.raw == "" {
			continue
		}
		if e.raw != "[DONE]" {
			e.data = decode(t, e.raw)
		}
		all = append(all, e)
	}
	return all
}

func decode(t testing.TB, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("decode %.200q: %v", s, err)
	}
	return v
}

// dig follows a path of keys and indexes; it is nil where the path ends early.
func dig(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// deltas are the texts of the answer's deltas.
func (d dialect) deltas(all []event) []string {
	var texts []string
	for _, e := range all {
		if d.name == fakeai.WireResponses && e.name != "response.output_text.delta" {
			continue
		}
		if dig(e.data, "candidates", 0, "content", "parts", 0, "thought") != nil {
			continue
		}
		if text, ok := dig(e.data, d.delta...).(string); ok && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
