package wire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"parley"
	"parley/provider/wire"
)

func TestClassifyStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		status    int
		body      string
		code      parley.Code
		retryable bool
		says      string
	}{
		{"bad key", 401, `{"error":{"message":"Incorrect API key provided: sk-pro**********abcd.","type":"invalid_request_error","code":"invalid_api_key"}}`, parley.CodeAuthenticationFailed, false, "provided: ***"},
		{"Google's bad key", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, parley.CodeAuthenticationFailed, false, ""},
		{"no permission", 403, `{"error":{"message":"Country not supported","code":"unsupported_country_region_territory"}}`, parley.CodeAuthenticationFailed, false, "did not accept"},
		{"no access to model", 403, `{"error":{"message":"Project x does not have access to model m","code":"model_not_found"}}`, parley.CodeAuthenticationFailed, false, "not available to this account"},
		{"flagged", 403, `{"error":{"message":"Your input was flagged","code":403}}`, parley.CodeContentFiltered, false, ""},
		{"payment", 402, `{"error":{"message":"Insufficient Balance"}}`, parley.CodeQuotaExceeded, false, ""},
		{"OpenAI's quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, parley.CodeQuotaExceeded, false, ""},
		{"Anthropic's quota", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, parley.CodeQuotaExceeded, false, ""},
		{"Google's rate", 429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, parley.CodeRateLimitExceeded, true, ""},
		{"Google's rate a day", 429, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"reason":"RATE_LIMIT_EXCEEDED"},{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, parley.CodeQuotaExceeded, false, ""},
		{"Google's rate in an array", 429, `[{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED"}}]`, parley.CodeRateLimitExceeded, true, "“Resource exhausted.”"},
		{"no model", 404, `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`, parley.CodeModelNotFound, false, "does not know m"},
		{"Anthropic's model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`, parley.CodeModelNotFound, false, ""},
		{"Ollama's model", 404, `{"error":"model \"m\" not found, try pulling it first"}`, parley.CodeModelNotFound, false, "try pulling"},
		{"OpenRouter's model", 400, `{"error":{"message":"m is not a valid model ID","code":400}}`, parley.CodeModelNotFound, false, ""},
		{"no such path", 404, `{"detail":"Not Found"}`, parley.CodeUpstreamError, false, "HTTP 404"},
		{"no such path, as OpenAI says it", 404, `{"error":{"message":"Invalid URL (POST /chat/completions), see the models page, not found","code":"unknown_url"}}`, parley.CodeUpstreamError, false, ""},
		{"request timeout", 408, ``, parley.CodeTimeout, true, "HTTP 408"},
		{"gateway timeout", 504, `<html>`, parley.CodeTimeout, true, "an HTML page instead of JSON"},
		{"too large", 413, ``, parley.CodeContextLengthExceeded, false, ""},
		{"too long", 400, `{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`, parley.CodeContextLengthExceeded, false, ""},
		{"rate", 429, ``, parley.CodeRateLimitExceeded, true, ""},
		{"filter", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter"}}`, parley.CodeContentFiltered, false, ""},
		{"server", 500, `{"error":{"message":"The server had an error"}}`, parley.CodeUpstreamError, true, "“The server had an error”"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, parley.CodeUpstreamError, true, "HTTP 529"},
		{"server that talks of models", 500, `{"error":{"message":"maximum context length of content policy"}}`, parley.CodeUpstreamError, true, ""},
		{"conflict", 409, ``, parley.CodeUpstreamError, true, ""},
		{"bad request", 400, `{"error":{"message":"Unsupported parameter: 'temperature'","param":"temperature"}}`, parley.CodeUpstreamError, false, "“Unsupported parameter: 'temperature'”"},
		{"bad request in HTML", 400, "<!DOCTYPE html><p>secret", parley.CodeUpstreamError, false, "an HTML page instead of JSON"},
		{"inside: rate", 200, `{"error":{"message":"slow","type":"rate_limit_error"}}`, parley.CodeRateLimitExceeded, true, ""},
		{"inside: overloaded", 200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, parley.CodeUpstreamError, true, "while it answered"},
		{"inside: too long", 200, `{"type":"error","code":"context_length_exceeded","message":"long"}`, parley.CodeContextLengthExceeded, false, ""},
		{"inside: bad request", 200, `{"error":{"message":"no","type":"invalid_request_error"}}`, parley.CodeUpstreamError, false, ""},
		{"inside: unknown", 200, `{"error":{"message":"hm"}}`, parley.CodeUpstreamError, true, ""},
		{"not JSON", 400, "no healthy\nupstream", parley.CodeUpstreamError, false, "“no healthy upstream”"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := wire.Failure{Provider: "acme", Model: "m", Status: c.status, Words: wire.ReadWords([]byte(c.body))}.Classify()
			if e.Code != c.code || e.Retryable != c.retryable || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s, retryable %t: %s\nwant %s, retryable %t, saying %q", e.Code, e.Retryable, e.Message, c.code, c.retryable, c.says)
			}
			if e.Provider != "acme" || e.Model != "m" {
				t.Errorf("error names %s/%s", e.Provider, e.Model)
			}
		})
	}
}

// Google says in the body how long to wait; a header wins.
func TestClassifyWait(t *testing.T) {
	t.Parallel()
	words := wire.ReadWords([]byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"?","details":[{"violations":[{"quotaId":"PerMinute"}]},{"retryDelay":"34.5s"}]}}`))
	for header, want := range map[string]time.Duration{"": 34500 * time.Millisecond, "7": 7 * time.Second} {
		e := wire.Failure{Status: 429, Words: words, Header: http.Header{"Retry-After": {header}}}.Classify()
		if e.Code != parley.CodeRateLimitExceeded || e.RetryAfter != want {
			t.Errorf("header %q: %s after %s, want %s", header, e.Code, e.RetryAfter, want)
		}
	}
}

func TestClassifyTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message     string
		limit, sent int
	}{
		{"This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens. Please reduce the length.", 128000, 130500},
		{"This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).", 4097, 5000},
		{"This endpoint's maximum context length is 131,072 tokens. However, you requested about 140,000 tokens (…).", 131072, 140000},
		{"This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131072, 150000},
		{"prompt is too long: 215000 tokens > 200000 maximum", 200000, 215000},
		{"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200000, 210000},
		{"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000},
		{"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.", 30000, 40000},
		{"the request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 9000},
		{"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768, 40000},
		{"Your request exceeded model token limit: 8192", 8192, 0},
		{"This model's maximum context length is 99999999999999999999 tokens.", 0, 0},
		{"Your input exceeds the context window of this model.", 0, 0},
	} {
		e := wire.Failure{Provider: "acme", Status: 400, Words: wire.Words{Message: c.message}}.Classify()
		if e.Code != parley.CodeContextLengthExceeded {
			t.Errorf("%s: %s", e.Code, c.message)
		}
		if e.MaxTokens != c.limit || e.ProvidedTokens != c.sent {
			t.Errorf("%d of %d, want %d of %d: %s", e.ProvidedTokens, e.MaxTokens, c.sent, c.limit, c.message)
		}
	}
}

func TestClassifyUnreachable(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		name      string
		err       error
		code      parley.Code
		retryable bool
		says      string
	}{
		{"refused", dial(syscall.ECONNREFUSED), parley.CodeProviderUnavailable, true, "nothing accepts connections"},
		{"unknown host", dial(&net.DNSError{Name: "nowhere", IsNotFound: true}), parley.CodeProviderUnavailable, true, "could not be found"},
		{"certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, parley.CodeProviderUnavailable, true, "no secure connection"},
		{"plain text", errors.New("http: server gave HTTP response to HTTPS client"), parley.CodeProviderUnavailable, true, "no secure connection"},
		{"reset", dial(syscall.ECONNRESET), parley.CodeProviderUnavailable, true, "closed the connection"},
		{"end", fmt.Errorf("post: %w", io.EOF), parley.CodeProviderUnavailable, true, "closed the connection"},
		{"slow", dial(timeoutError{}), parley.CodeProviderUnavailable, true, "within 10s"},
		{"redirect", &wire.RedirectError{To: "https://evil"}, parley.CodeUpstreamError, false, "https://evil"},
		{"bomb", &wire.TooLargeError{What: "the body", Limit: 7}, parley.CodeUpstreamError, false, "7 bytes"},
		{"other", errors.New("no idea sk-secret-key-value"), parley.CodeProviderUnavailable, true, "could not be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := wire.Failure{Provider: "acme", Host: "acme.example", Err: c.err, Secrets: []string{"secret-key-value"}}.Classify()
			if e.Code != c.code || e.Retryable != c.retryable || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s, retryable %t: %s", e.Code, e.Retryable, e.Message)
			}
			if !errors.Is(e, c.err) {
				t.Error("the cause is lost")
			}
			if strings.Contains(e.Err.Error(), "secret-key-value") {
				t.Errorf("the cause shows the key: %v", e.Err)
			}
		})
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestInterrupted(t *testing.T) {
	t.Parallel()
	if e := wire.Interrupted(t.Context(), "acme", "m"); e != nil {
		t.Errorf("a living context: %v", e)
	}
	why := &parley.Error{Code: parley.CodeTimeout, Message: "it stalled", Retryable: true}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	e := wire.Interrupted(ctx, "acme", "m")
	if e.Code != parley.CodeTimeout || e.Message != "it stalled" || !e.Retryable || e.Provider != "acme" {
		t.Errorf("error %+v, want that of the cause", e)
	}
	if !errors.Is(e, context.Canceled) || !errors.Is(e, why) {
		t.Errorf("error %v is not both the context's and its cause", e.Err)
	}
	ctx, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	if e := wire.Interrupted(ctx, "acme", "m"); e.Code != parley.CodeTimeout || !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("error %+v, want a timeout", e)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "",
		"  a \n\t b  ":                   "a b",
		"\x1b[31mred\x00":                "[31mred",
		"zero\u200bwidth\u202e":          "zerowidth",
		"broke \xff utf8":                "broke utf8",
		"éééééééééééé":                   "éééééééééé…",
		"0123456789":                     "0123456789",
		"012345678 \n":                   "012345678",
		strings.Repeat("\u0301", 3) + "": "\u0301\u0301\u0301",
	} {
		if got := wire.Plain(in, 10); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(400, `{"error":{"message":"key-0123456789 is wrong","type":"x","code":7}}`, "17")
	f.Add(200, `[{"error":"maximum context length is 5 tokens, you requested 6"}]`, "")
	f.Add(503, "<html>key-0123456789", "-1")
	f.Add(0, "key-\x000123456789", "x")
	f.Fuzz(func(t *testing.T, status int, body, retry string) {
		const key = "key-0123456789"
		e := wire.Failure{
			Provider: "acme", Model: "m", Status: status, Header: http.Header{"Retry-After": {retry}},
			Words: wire.ReadWords([]byte(body)), Secrets: []string{key}, Now: noon,
		}.Classify()
		for _, text := range []string{e.Message, e.Hint, e.Err.Error()} {
			if strings.Contains(text, key) {
				t.Errorf("shows the key: %q", text)
			}
		}
		if e.Code == "" || e.Message == "" || !utf8.ValidString(e.Message) || utf8.RuneCountInString(e.Message) > 450 ||
			strings.ContainsFunc(e.Message, unicode.IsControl) {
			t.Errorf("not fit to be shown: %q", e.Message)
		}
		if e.MaxTokens < 0 || e.ProvidedTokens < 0 || e.RetryAfter < 0 {
			t.Errorf("negative: %+v", e)
		}
	})
}
