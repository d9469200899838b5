package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/openai"
	"parley/provider/wire"
)

type object = map[string]any

// ask starts an upstream, points a provider with the given configuration at it
// and asks.
func ask(t *testing.T, cfg openai.Config, script fakeai.Script, call parley.Call) (*fakeai.Request, parley.Reply, []parley.Delta, error) {
	t.Helper()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	up.Script("", script)
	cfg.HTTPClient = wire.Client(nil)
	t.Cleanup(cfg.HTTPClient.CloseIdleConnections)
	cfg.BaseURL = up.OpenAI() + cfg.BaseURL
	var deltas []parley.Delta
	reply, err := openai.New(cfg).Ask(t.Context(), call, func(d parley.Delta) { deltas = append(deltas, d) })
	requests := up.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want 1 (%v)", len(requests), err)
	}
	return requests[0], reply, deltas, err
}

func user(texts ...string) parley.Message {
	m := parley.Message{Role: parley.RoleUser}
	for _, text := range texts {
		m.Parts = append(m.Parts, parley.Part{Text: text})
	}
	return m
}

func fullCall() parley.Call {
	temp := 0.5
	return parley.Call{
		Model:  model,
		System: "Be brief.",
		Messages: []parley.Message{
			user("a.go", "why?"),
			{Role: parley.RoleAssistant, Parts: []parley.Part{{Text: "because"}}},
			user("and?"),
		},
		Options:   parley.Options{Effort: parley.EffortLow, Temperature: &temp, Verbosity: "low", WebSearch: true},
		MaxOutput: 2000,
		CacheKey:  "conv_1",
	}
}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	plain := parley.Call{Model: parley.Model{ModelRef: parley.ModelRef{Name: "llama:8b"}}, Messages: []parley.Message{user("hi")}}
	small := plain
	small.MaxOutput = 3
	effortless := plain
	effortless.Options.Effort = parley.EffortHigh
	fullInput := []any{
		object{"role": "user", "content": []any{
			object{"type": "input_text", "text": "a.go"},
			object{"type": "input_text", "text": "why?"},
		}},
		object{"role": "assistant", "content": "because"},
		object{"role": "user", "content": []any{object{"type": "input_text", "text": "and?"}}},
	}
	plainInput := []any{object{"role": "user", "content": []any{object{"type": "input_text", "text": "hi"}}}}
	fullMessages := []any{
		object{"role": "system", "content": "Be brief."},
		object{"role": "user", "content": "a.go\n\nwhy?"},
		object{"role": "assistant", "content": "because"},
		object{"role": "user", "content": "and?"},
	}
	for _, c := range []struct {
		name     string
		id, wire string
		call     parley.Call
		want     object
	}{
		{"responses full", "openai", "responses", fullCall(), object{
			"model": "gpt-5-mini", "store": false, "stream": true,
			"instructions": "Be brief.", "input": fullInput,
			"max_output_tokens": 2000.0, "reasoning": object{"effort": "low"}, "text": object{"verbosity": "low"},
			"temperature": 0.5, "tools": []any{object{"type": "web_search"}}, "prompt_cache_key": "conv_1",
		}},
		{"responses elsewhere", "xai", "responses", fullCall(), object{
			"model": "gpt-5-mini", "store": false, "stream": true,
			"instructions": "Be brief.", "input": fullInput,
			"max_output_tokens": 2000.0, "reasoning": object{"effort": "low"}, "text": object{"verbosity": "low"},
			"temperature": 0.5, "tools": []any{object{"type": "web_search"}},
		}},
		{"responses plain", "openai", "", plain, object{
			"model": "llama:8b", "store": false, "stream": true, "input": plainInput,
		}},
		{"responses without efforts", "openai", "", effortless, object{
			"model": "llama:8b", "store": false, "stream": true, "input": plainInput,
		}},
		{"responses least output", "openai", "", small, object{
			"model": "llama:8b", "store": false, "stream": true, "input": plainInput, "max_output_tokens": 16.0,
		}},
		{"chat full", "openai", "chat", fullCall(), object{
			"model": "gpt-5-mini", "stream": true, "stream_options": object{"include_usage": true},
			"messages": fullMessages, "max_completion_tokens": 2000.0, "reasoning_effort": "low", "verbosity": "low",
			"temperature": 0.5, "prompt_cache_key": "conv_1",
		}},
		{"chat elsewhere", "custom", "", fullCall(), object{
			"model": "gpt-5-mini", "stream": true, "stream_options": object{"include_usage": true},
			"messages": fullMessages, "max_tokens": 2000.0, "reasoning_effort": "low", "verbosity": "low",
			"temperature": 0.5,
		}},
		{"chat plain", "custom", "chat", plain, object{
			"model": "llama:8b", "stream": true, "stream_options": object{"include_usage": true},
			"messages": []any{object{"role": "user", "content": "hi"}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, _, _, err := ask(t, openai.Config{ID: c.id, Wire: c.wire}, fakeai.Script{}, c.call)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, req.JSON); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// Only OpenAI itself is told not to keep chats; its Responses always are told.
func TestChatStore(t *testing.T) {
	t.Parallel()
	var body string
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		var b strings.Builder
		_ = r.Write(&b)
		body = b.String()
		return answered(`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`), nil
	})}
	p := openai.New(openai.Config{Wire: openai.WireChat, Key: "k", HTTPClient: client})
	if _, err := p.Ask(t.Context(), fullCall(), nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body, `"store":false`) || !strings.Contains(body, "Host: api.openai.com") {
		t.Errorf("request %s, want store:false to api.openai.com", body)
	}
}

func TestRequestTarget(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"":                          "/v1/chat/completions?",
		"/":                         "/v1/chat/completions?",
		"//":                        "/v1/chat/completions?",
		"/deployments/d1?version=2": "/v1/deployments/d1/chat/completions?version=2",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			req, _, _, err := ask(t, openai.Config{ID: "azure", BaseURL: base}, fakeai.Script{}, fullCall())
			if err != nil {
				t.Fatal(err)
			}
			if got := req.Path + "?" + req.Query.Encode(); got != want {
				t.Errorf("target %s, want %s", got, want)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	req, _, _, err := ask(t, openai.Config{
		ID: "custom", Organization: "org-1", Project: "proj-1",
		Header: http.Header{"Api-Key": {"azure-secret-key"}, "X-Title": {"parley"}},
	}, fakeai.Script{Status: 401, Message: "bad azure-secret-key"}, fullCall())
	for name, want := range map[string]string{
		"Api-Key": "azure-secret-key", "X-Title": "parley", "OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1",
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, there := req.Header["Authorization"]; there {
		t.Error("Authorization was sent without a key")
	}
	if err == nil || strings.Contains(err.Error(), "azure-secret-key") {
		t.Errorf("error %v, want one without the key", err)
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]openai.Config{
		"no base URL": {ID: "custom"},
		"no URL":      {ID: "custom", BaseURL: "http://[::1"},
		"no scheme":   {ID: "custom", BaseURL: "localhost:8080/v1"},
		"no wire":     {Wire: "telegraph"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.New(cfg).Ask(t.Context(), fullCall(), nil)
			if e := parley.AsError(err); e == nil || e.Code != parley.CodeProviderUnavailable || e.Retryable {
				t.Errorf("error %v, want %s", err, parley.CodeProviderUnavailable)
			}
		})
	}
}
