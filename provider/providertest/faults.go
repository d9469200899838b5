package providertest

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"parley"
	"parley/fakeai"
)

// Fault is a way for the upstream to fail, and what must come of it.
type Fault struct {
	Name   string
	Script fakeai.Script
	Code   parley.Code
	// Retryable and RetryAfter are compared exactly.
	Retryable  bool
	RetryAfter time.Duration
	// MaxTokens and ProvidedTokens are compared if set.
	MaxTokens, ProvidedTokens int
	// Says must be in the message, Never must not.
	Says, Never string
}

const day = 24 * time.Hour

// commonFaults are those that all vendors have.
func commonFaults() []Fault {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	page := "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>" + strings.Repeat("nginx ", 1000) + "</body></html>"
	return []Fault{
		{
			Name:   "400",
			Script: fakeai.Script{Status: 400, Message: "Unsupported value:\n\x1b[31m'temperature'\x00 " + strings.Repeat("x", 5000)},
			Code:   parley.CodeUpstreamError, Says: "Unsupported value:",
		},
		{Name: "302 to nowhere", Script: fakeai.Script{Status: 302}, Code: parley.CodeUpstreamError},
		{Name: "401", Script: fakeai.Script{Status: 401}, Code: parley.CodeAuthenticationFailed},
		{Name: "402", Script: fakeai.Script{Status: 402}, Code: parley.CodeQuotaExceeded},
		{Name: "403", Script: fakeai.Script{Status: 403}, Code: parley.CodeAuthenticationFailed},
		{Name: "404 model", Script: fakeai.Script{Status: 404, Message: "The model `nope` does not exist"}, Code: parley.CodeModelNotFound},
		{Name: "404 path", Script: fakeai.Script{Status: 404, Body: `{"detail":"Not Found"}`}, Code: parley.CodeUpstreamError},
		{Name: "408", Script: fakeai.Script{Status: 408}, Code: parley.CodeTimeout, Retryable: true},
		{Name: "413", Script: fakeai.Script{Status: 413}, Code: parley.CodeContextLengthExceeded},
		{Name: "429", Script: fakeai.Script{Status: 429}, Code: parley.CodeRateLimitExceeded, Retryable: true},
		{
			Name: "429 seconds", Code: parley.CodeRateLimitExceeded, Retryable: true, RetryAfter: 17 * time.Second,
			Script: fakeai.Script{Status: 429, Header: http.Header{"Retry-After": {"17"}}},
		},
		{
			Name: "429 date", Code: parley.CodeRateLimitExceeded, Retryable: true, RetryAfter: 90 * time.Second,
			Script: fakeai.Script{Status: 429, Header: http.Header{
				"Date":        {now.Format(http.TimeFormat)},
				"Retry-After": {now.Add(90 * time.Second).Format(http.TimeFormat)},
			}},
		},
		{
			Name: "429 three days", Code: parley.CodeRateLimitExceeded, Retryable: true, RetryAfter: 3 * day,
			Script: fakeai.Script{Status: 429, Header: http.Header{"Retry-After": {"259200"}}},
		},
		{
			Name: "429 negative", Code: parley.CodeRateLimitExceeded, Retryable: true,
			Script: fakeai.Script{Status: 429, Header: http.Header{"Retry-After": {"-5"}}},
		},
		{Name: "500", Script: fakeai.Script{Status: 500}, Code: parley.CodeUpstreamError, Retryable: true},
		{
			Name: "502 html", Script: fakeai.Script{Status: 502, Body: page},
			Code: parley.CodeUpstreamError, Retryable: true, Says: "an HTML page instead of JSON", Never: "nginx",
		},
		{
			Name: "503", Code: parley.CodeUpstreamError, Retryable: true, RetryAfter: 2 * time.Second,
			Script: fakeai.Script{Status: 503, Header: http.Header{"Retry-After": {"2"}}},
		},
		{Name: "504", Script: fakeai.Script{Status: 504}, Code: parley.CodeTimeout, Retryable: true},
		{Name: "529", Script: fakeai.Script{Status: 529}, Code: parley.CodeUpstreamError, Retryable: true},
		{Name: "200 html", Script: fakeai.Script{Body: page}, Code: parley.CodeUpstreamError, Never: "nginx"},
		{Name: "200 nonsense", Script: fakeai.Script{Body: "It works!\n"}, Code: parley.CodeUpstreamError},
		{Name: "200 without text", Script: fakeai.Script{Empty: true}, Code: parley.CodeUpstreamError, Retryable: true, Says: "an empty answer"},
		{Name: "filtered", Script: fakeai.Script{Empty: true, Finish: fakeai.FinishFilter}, Code: parley.CodeContentFiltered},
		{Name: "closed before the answer", Script: fakeai.Script{CutAfter: -1}, Code: parley.CodeProviderUnavailable, Retryable: true},
		{
			Name: "error before the first word", Script: fakeai.Script{ErrorAfter: -1, Message: "Something broke."},
			Code: parley.CodeUpstreamError, Retryable: true, Says: "Something broke.",
		},
	}
}

func faults(t *testing.T, h Harness) {
	for _, f := range append(commonFaults(), h.Faults...) {
		t.Run(f.Name, func(t *testing.T) {
			b := h.setup(t)
			script := f.Script
			// The SDKs take this as an order; the engine decides about retries.
			header := http.Header{"X-Should-Retry": {"true"}}
			maps.Copy(header, script.Header)
			script.Header = header
			b.up.Script("", script)
			d := b.ask(t, h.call("hello"))
			if d.err == nil {
				t.Fatalf("no error, but %+v", d.reply)
			}
			b.request(t)
			f.check(t, d)
		})
	}
}

func (f Fault) check(t *testing.T, d heard) {
	t.Helper()
	e := parley.AsError(d.err)
	if e.Code != f.Code || e.Retryable != f.Retryable || e.RetryAfter != f.RetryAfter {
		t.Errorf("got  %s, retryable %t after %s: %s\nwant %s, retryable %t after %s",
			e.Code, e.Retryable, e.RetryAfter, e.Message, f.Code, f.Retryable, f.RetryAfter)
	}
	if !strings.Contains(e.Message, f.Says) {
		t.Errorf("message %q, want it to say %q", e.Message, f.Says)
	}
	if f.Never != "" && strings.Contains(e.Message, f.Never) {
		t.Errorf("message %q must not say %q", e.Message, f.Never)
	}
	if f.MaxTokens != 0 && (e.MaxTokens != f.MaxTokens || e.ProvidedTokens != f.ProvidedTokens) {
		t.Errorf("%d of %d tokens, want %d of %d", e.ProvidedTokens, e.MaxTokens, f.ProvidedTokens, f.MaxTokens)
	}
	if f.Code == parley.CodeAuthenticationFailed && e.Hint == "" {
		t.Error("no hint")
	}
}

// checkError is what must be true of every error of a provider.
func checkError(t *testing.T, b *bundle, err error) {
	t.Helper()
	e, ok := err.(*parley.Error) //nolint:errorlint // the contract is the type itself
	if !ok {
		t.Fatalf("error is a %T, want *parley.Error: %v", err, err)
	}
	if e.Provider != b.provider.ID() || e.Model != b.h.Model.Name {
		t.Errorf("error names %s/%s, want %s/%s", e.Provider, e.Model, b.provider.ID(), b.h.Model.Name)
	}
	if e.Message == "" || len([]rune(e.Message)) > 500 || strings.ContainsFunc(e.Message, unicode.IsControl) {
		t.Errorf("message of %d bytes is not fit to be shown: %q", len(e.Message), e.Message)
	}
	for what, text := range spoken(err) {
		if strings.Contains(text, Key) {
			t.Errorf("the %s shows the key: %s", what, text)
		}
	}
}

func cut(t *testing.T, h Harness) {
	text := "The answer has four parts."
	for name, script := range map[string]fakeai.Script{
		"closed": {CutAfter: 2},
		"error":  {ErrorAfter: 2, Message: "Something broke."},
	} {
		t.Run(name, func(t *testing.T) {
			b := h.setup(t)
			script.Text, script.Chunks = text, 4
			b.up.Script("", script)
			d := b.ask(t, h.call("hello"))
			e := parley.AsError(d.err)
			if d.err == nil || e.Code != parley.CodeUpstreamError || !e.Retryable {
				t.Fatalf("error %v, want a retryable %s", d.err, parley.CodeUpstreamError)
			}
			if name == "closed" && !strings.Contains(e.Message, "the answer was cut off") {
				t.Errorf("message %q, want it to say that the answer was cut off", e.Message)
			}
			if name == "error" && !strings.Contains(e.Message, "Something broke.") {
				t.Errorf("message %q, want the provider's words", e.Message)
			}
			if got := d.reply.Text; len(got) < len(text)/3 || !strings.HasPrefix(text, got) || got == text {
				t.Errorf("kept %q, want the first half of %q", got, text)
			}
			b.request(t)
		})
	}
}

func redirect(t *testing.T, h Harness) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			other := fakeai.Start()
			t.Cleanup(other.Close)
			b := h.setup(t)
			b.up.Script("", fakeai.Script{Status: status, Header: http.Header{"Location": {other.URL + "/v1/elsewhere"}}})
			d := b.ask(t, h.call("hello"))
			if e := parley.AsError(d.err); d.err == nil || e.Code != parley.CodeUpstreamError || e.Retryable {
				t.Errorf("error %v, want %s, not retryable", d.err, parley.CodeUpstreamError)
			} else if !strings.Contains(e.Message, "redirect") {
				t.Errorf("message %q, want it to speak of a redirect", e.Message)
			}
			b.request(t)
			if n := len(other.Requests()); n != 0 {
				t.Errorf("the other host received %d requests", n)
			}
		})
	}
}

func refused(t *testing.T, h Harness) {
	b := h.setup(t)
	b.up.Close()
	d := b.ask(t, h.call("hello"))
	e := parley.AsError(d.err)
	if d.err == nil || e.Code != parley.CodeProviderUnavailable || !e.Retryable || e.Hint == "" {
		t.Errorf("error %v (hint %q), want a retryable %s with a hint", d.err, e.Hint, parley.CodeProviderUnavailable)
	}
}
