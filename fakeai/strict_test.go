package fakeai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

func TestRefusesWhatTheVendorRefuses(t *testing.T) {
	t.Parallel()
	marks := strings.Repeat(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`, 5)
	tests := map[string]map[string]string{
		"/v1/responses": {
			"InvalidJSON":        `{"model":`,
			"NoObject":           `[]`,
			"NoModel":            `{"input":"a"}`,
			"NoInput":            `{"model":"m"}`,
			"EmptyString":        `{"model":"m","input":""}`,
			"EmptyList":          `{"model":"m","input":[]}`,
			"UnknownRole":        `{"model":"m","input":[{"role":"model","content":"a"}]}`,
			"UnknownItem":        `{"model":"m","input":[{"type":"note","role":"user","content":"a"}]}`,
			"NoContent":          `{"model":"m","input":[{"role":"user"}]}`,
			"ChatPart":           `{"model":"m","input":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
			"AssistantInputText": `{"model":"m","input":[{"role":"assistant","content":[{"type":"input_text","text":"a"}]}]}`,
			"UserOutputText":     `{"model":"m","input":[{"role":"user","content":[{"type":"output_text","text":"a"}]}]}`,
			"ChatParameter":      `{"model":"m","input":"a","max_tokens":100}`,
			"FewTokens":          `{"model":"m","input":"a","max_output_tokens":15}`,
			"StreamNoBoolean":    `{"model":"m","input":"a","stream":"yes"}`,
			"Temperature":        `{"model":"m","input":"a","temperature":3}`,
		},
		"/v1/chat/completions": {
			"InvalidJSON":   `nope`,
			"NoModel":       `{"messages":[{"role":"user","content":"a"}]}`,
			"NoMessages":    `{"model":"m"}`,
			"EmptyMessages": `{"model":"m","messages":[]}`,
			"UnknownRole":   `{"model":"m","messages":[{"role":"model","content":"a"}]}`,
			"NullContent":   `{"model":"m","messages":[{"role":"user","content":null}]}`,
			"ResponsesPart": `{"model":"m","messages":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`,
			"ImageFromBot":  `{"model":"m","messages":[{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"a"}}]}]}`,
			"ToolWithoutID": `{"model":"m","messages":[{"role":"tool","content":"a"}]}`,
			"TwoLimits":     `{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[{"role":"user","content":"a"}]}`,
			"Options":       `{"model":"m","stream_options":{"include_usage":true},"messages":[{"role":"user","content":"a"}]}`,
		},
		"/v1/messages": {
			"InvalidJSON":    `{`,
			"NoModel":        `{"max_tokens":9,"messages":[{"role":"user","content":"a"}]}`,
			"NoMaxTokens":    `{"model":"m","messages":[{"role":"user","content":"a"}]}`,
			"ZeroMaxTokens":  `{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"a"}]}`,
			"NoMessages":     `{"model":"m","max_tokens":9}`,
			"EmptyMessages":  `{"model":"m","max_tokens":9,"messages":[]}`,
			"SystemRole":     `{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"a"}]}`,
			"AssistantFirst": `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"a"}]}`,
			"EmptyContent":   `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":""}]}`,
			"EmptyBlock":     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`,
			"UnknownBlock":   `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`,
			"TrailingSpace":  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b "}]}`,
			"Unknown":        `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"n":1}`,
			"Budget":         `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"}]}`,
			"CacheMarks":     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + strings.TrimSuffix(marks, ",") + `]}]}`,
		},
		"/v1beta/models/m:generateContent": {
			"InvalidJSON":   `{`,
			"NoContents":    `{}`,
			"EmptyContents": `{"contents":[]}`,
			"UnknownRole":   `{"contents":[{"role":"assistant","parts":[{"text":"a"}]}]}`,
			"NoParts":       `{"contents":[{"role":"user","parts":[]}]}`,
			"EmptyPart":     `{"contents":[{"role":"user","parts":[{}]}]}`,
			"EmptySystem":   `{"systemInstruction":{"parts":[]},"contents":[{"parts":[{"text":"a"}]}]}`,
			"Unknown":       `{"contents":[{"parts":[{"text":"a"}]}],"messages":[]}`,
		},
	}
	for path, bodies := range tests {
		for name, body := range bodies {
			t.Run(strings.TrimPrefix(path, "/")+"/"+name, func(t *testing.T) {
				t.Parallel()
				up := start(t)
				up.Enqueue("", fakeai.Script{Text: "unused"})
				resp, err := post(deadline(t), t, up.URL+path, body)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				got, _ := io.ReadAll(resp.Body)
				if message, _ := dig(decode(t, string(got)), "error", "message").(string); resp.StatusCode != 400 || message == "" {
					t.Errorf("got %d %s, want a 400 with a message", resp.StatusCode, got)
				}
				if n := len(up.Requests()); n != 1 {
					t.Errorf("recorded %d requests, want 1", n)
				}
			})
		}
	}
}

func TestReadsConversations(t *testing.T) {
	t.Parallel()
	const image = "data:image/png;base64,AA=="
	tests := map[string]struct{ path, body string }{
		"Responses": {"/v1/responses", `{"model":"m","instructions":"be","input":[
			{"role":"developer","content":"brief"},
			{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"` + image + `"},{"type":"input_text","text":"b"}]},
			{"type":"reasoning","id":"rs_1","summary":[]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]},
			{"role":"assistant","content":"d"},
			{"role":"user","content":"e"}]}`},
		"Chat": {"/v1/chat/completions", `{"model":"m","messages":[
			{"role":"system","content":"be"},{"role":"developer","content":[{"type":"text","text":"brief"}]},
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"` + image + `"}},{"type":"text","text":"b"}]},
			{"role":"assistant","content":"c"},
			{"role":"assistant","content":"d"},
			{"role":"user","content":"e"}]}`},
		"Anthropic": {"/v1/messages", `{"model":"m","max_tokens":9,
			"system":[{"type":"text","text":"be"},{"type":"text","text":"brief","cache_control":{"type":"ephemeral"}}],"messages":[
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"text","text":"b"}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"c"}]},
			{"role":"assistant","content":"d"},
			{"role":"user","content":"e"}]}`},
		"Gemini": {"/v1beta/models/m:generateContent", `{"system_instruction":{"parts":[{"text":"be"},{"text":"brief"}]},"contents":[
			{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"text":"b"}]},
			{"role":"model","parts":[{"text":"c"}]},
			{"role":"model","parts":[{"text":"d"}]},
			{"parts":[{"text":"e"}]}]}`},
	}
	want := []fakeai.Message{
		{Role: "user", Text: "a\nb", Images: 1},
		{Role: "assistant", Text: "c"},
		{Role: "assistant", Text: "d"},
		{Role: "user", Text: "e"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := start(t)
			resp, err := post(deadline(t), t, up.URL+test.path, test.body)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "ECHO: e") {
				t.Fatalf("got %d %s", resp.StatusCode, body)
			}
			r := up.Requests()[0]
			if diff := cmp.Diff(want, r.Messages); diff != "" || r.System != "be\nbrief" {
				t.Errorf("system %q, messages (-want +got):\n%s", r.System, diff)
			}
			if got, want := r.Text(), "be\nbrief\na\nb\nc\nd\ne"; got != want {
				t.Errorf("text: got %q, want %q", got, want)
			}
		})
	}
}

func TestUnknownPath(t *testing.T) {
	t.Parallel()
	up := start(t)
	tests := map[string]struct {
		path, encoding string
		want           []any
	}{
		"OpenAI":    {path: "/v1/completions", want: []any{"error", "code"}},
		"Anthropic": {path: "/v1/messages", encoding: "gzip", want: []any{"error", "type"}},
		"Gemini":    {path: "/v1beta/models/m:embedContent", want: []any{"error", "status"}},
		"Gzip":      {path: "/v1/responses", encoding: "gzip", want: []any{"error", "message"}},
	}
	for name, test := range tests {
		req, err := http.NewRequestWithContext(deadline(t), http.MethodPost, up.URL+test.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if test.encoding != "" {
			req.Header.Set("Content-Encoding", test.encoding)
		}
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 404 || dig(decode(t, string(body)), test.want...) == nil {
			t.Errorf("%s: got %d %s", name, resp.StatusCode, body)
		}
	}
}

func TestAnyPrefix(t *testing.T) {
	t.Parallel()
	up := start(t)
	for i, d := range dialects {
		resp, err := post(deadline(t), t, fmt.Sprintf("%s/some/prefix%s", up.URL, d.path("m", false)), d.body("m", "why?", false))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := up.Requests()[i].Wire; resp.StatusCode != 200 || got != d.name {
			t.Errorf("got %d from %q, want 200 from %q", resp.StatusCode, got, d.name)
		}
	}
}
