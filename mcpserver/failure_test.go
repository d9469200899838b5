package mcpserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley"
	"parley/fakeai"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	after := http.Header{"Retry-After": {"60"}}
	for name, c := range map[string]struct {
		script   fakeai.Script
		code     parley.Code
		requests int
		// retryAfter is what the structured half says; nil for nothing.
		retryAfter any
		retryable  bool
	}{
		"RateLimit":   {fakeai.Script{Status: 429, Header: after}, parley.CodeRateLimitExceeded, 1, 60.0, true},
		"Quota":       {fakeai.Script{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"}, parley.CodeQuotaExceeded, 1, nil, false},
		"Key":         {fakeai.Script{Status: 401, Message: "Incorrect API key provided: " + apiKey}, parley.CodeAuthenticationFailed, 1, nil, false},
		"ServerError": {fakeai.Script{Status: 500, Message: "oops " + apiKey}, parley.CodeUpstreamError, 3, nil, true},
		"NotFound":    {fakeai.Script{Status: 404, Code: "model_not_found"}, parley.CodeModelNotFound, 1, nil, false},
		"Garbage":     {fakeai.Script{Body: "<html>" + apiKey + "</html>"}, parley.CodeUpstreamError, 1, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.up.Script("gpt-5-mini", c.script)
			r := b.connect(t, "stranger").call("chat", fields{"prompt": "x", "model": model})

			if want := "FAILED | CHAT | " + string(c.code) + " | " + r.thread() + " | " + model; !r.isError || r.head() != want {
				t.Errorf("got isError %v %q, want %q", r.isError, r.head(), want)
			}
			if r.str("status") != "failed" || r.str("code") != string(c.code) || r.str("error") == "" ||
				r.str("provider") != "openai" || r.at("retryable") != c.retryable || r.at("retry_after") != c.retryAfter {
				t.Errorf("got %v", r.structured)
			}
			if attempts, _ := r.at("attempts").([]any); len(attempts) != c.requests || len(b.up.Requests()) != c.requests {
				t.Errorf("got %d attempts and %d requests, want %d", len(attempts), len(b.up.Requests()), c.requests)
			}
			if !strings.Contains(r.text, r.str("error")) || !strings.Contains(r.text, r.str("hint")) || !strings.Contains(r.last(), r.thread()) {
				t.Errorf("the text is not complete: %s", r.text)
			}
			all, _ := json.Marshal(r.structured)
			if strings.Contains(r.text+string(all), apiKey) {
				t.Errorf("the key is in the answer: %s\n%s", r.text, all)
			}
			// The same is told later, to whoever asks.
			later := b.connect(t, "other").call("check_status", fields{"continuation_id": r.run()})
			if later.isError || later.str("code") != string(c.code) || later.at("retry_after") != c.retryAfter {
				t.Errorf("later: got isError %v %v", later.isError, later.structured)
			}
		})
	}
}

func TestCutStream(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two three", Chunks: 3, CutAfter: 2})
	s := b.connect(t, "stranger")
	r := s.call("chat", fields{"prompt": "x", "model": model})
	partial := r.str("content")
	if !r.isError || r.str("code") != "UPSTREAM_ERROR" || partial == "" || !strings.HasPrefix("one two three", partial) ||
		!strings.Contains(r.text, "What had arrived:\n"+partial) {
		t.Errorf("got %s %v", r.text, r.structured)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("an answer that had begun was asked for %d times", n)
	}
	if later := s.call("check_status", fields{"continuation_id": r.thread()}); later.str("content") != partial {
		t.Errorf("later: got %s", later.text)
	}
}

func TestNobodyCanAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(ec *engineConfig, _ *mcpserverConfig) {
		ec.Providers, ec.Keys = nil, map[string]string{"openai": "OPENAI_API_KEY"}
	})
	r := b.connect(t, "stranger").call("chat", fields{"prompt": "x"})
	if !r.isError || r.str("code") != "PROVIDER_UNAVAILABLE" || !strings.Contains(r.text, "OPENAI_API_KEY") {
		t.Errorf("got %s", r.text)
	}
}
