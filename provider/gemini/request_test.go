package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/gemini"
	"parley/provider/wire"
)

// ask starts an upstream, points a provider with the given configuration at it
// and asks.
func ask(t *testing.T, cfg gemini.Config, script fakeai.Script, call parley.Call) (*fakeai.Request, error) {
	t.Helper()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	up.Script("", script)
	cfg.HTTPClient = wire.Client(nil)
	t.Cleanup(cfg.HTTPClient.CloseIdleConnections)
	cfg.BaseURL = up.Gemini() + cfg.BaseURL
	_, err := gemini.New(cfg).Ask(t.Context(), call, nil)
	requests := up.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want 1 (%v)", len(requests), err)
	}
	return requests[0], err
}

func says(role parley.Role, texts ...string) parley.Message {
	m := parley.Message{Role: role}
	for _, text := range texts {
		m.Parts = append(m.Parts, parley.Part{Text: text})
	}
	return m
}

func user(texts ...string) parley.Message { return says(parley.RoleUser, texts...) }

func textPart(text string) object { return object{"text": text} }

func content(role string, parts ...any) object { return object{"role": role, "parts": parts} }

func TestRequestBody(t *testing.T) {
	t.Parallel()
	temp := 0.7
	plain := parley.Call{Model: parley.Model{ModelRef: parley.ModelRef{Name: "gemini-x"}}, Messages: []parley.Message{user("hi")}}
	thinks := func(way parley.Thinking, most int, e parley.Effort, limit int) parley.Call {
		call := plain
		call.Model.Thinking, call.Model.MaxThinking, call.Model.Efforts = way, most, parley.Efforts()
		call.Options.Effort, call.MaxOutput = e, limit
		return call
	}
	body := func(config object) object {
		return object{"contents": []any{content("user", textPart("hi"))}, "generationConfig": config}
	}
	thinking := func(more object) object { return object{"thinkingConfig": more} }
	for _, c := range []struct {
		name string
		call parley.Call
		want object
	}{
		{"plain", plain, body(object{})},
		{
			"full",
			parley.Call{
				Model: plain.Model, System: "Be brief.", MaxOutput: 2000, CacheKey: "conv_1",
				Messages: []parley.Message{
					user("a.go", "", "why?"), says(parley.RoleAssistant, "because"), says(parley.RoleAssistant, ""),
					{Role: parley.RoleUser, Parts: []parley.Part{{Image: &parley.Image{MIME: "image/png", Data: []byte("\x89PNG")}}, {Text: "and?"}}},
				},
				Options: parley.Options{Temperature: &temp, WebSearch: true, Effort: parley.EffortHigh, MediaResolution: "medium"},
			},
			object{
				"systemInstruction": object{"parts": []any{textPart("Be brief.")}},
				"contents": []any{
					content("user", textPart("a.go"), textPart("why?")),
					content("model", textPart("because")),
					content("user", object{"inlineData": object{"mimeType": "image/png", "data": "iVBORw=="}}, textPart("and?")),
				},
				"generationConfig": object{"temperature": 0.7, "maxOutputTokens": 2000.0, "mediaResolution": "MEDIA_RESOLUTION_MEDIUM"},
				"tools":            []any{object{"googleSearch": object{}}},
			},
		},
		{
			"level", thinks(parley.ThinkingByLevel, 0, parley.EffortLow, 0),
			body(thinking(object{"includeThoughts": true, "thinkingLevel": "LOW"})),
		},
		{
			"level by default", thinks(parley.ThinkingByEffort, 0, parley.EffortHigh, 0),
			body(thinking(object{"includeThoughts": true, "thinkingLevel": "HIGH"})),
		},
		{
			"budget", thinks(parley.ThinkingByBudget, 24_000, parley.EffortMedium, 0),
			body(thinking(object{"includeThoughts": true, "thinkingBudget": 7920.0})),
		},
		{
			"least budget", thinks(parley.ThinkingByBudget, 8_000, parley.EffortMinimal, 0),
			body(thinking(object{"includeThoughts": true, "thinkingBudget": 512.0})),
		},
		{
			"whole budget", thinks(parley.ThinkingByBudget, 24_000, parley.EffortMax, 65_000),
			body(object{"maxOutputTokens": 65_000.0, "thinkingConfig": object{"includeThoughts": true, "thinkingBudget": 24_000.0}}),
		},
		{
			"budget within the limit", thinks(parley.ThinkingByBudget, 24_000, parley.EffortMax, 2000),
			body(object{"maxOutputTokens": 2000.0, "thinkingConfig": object{"includeThoughts": true, "thinkingBudget": 1500.0}}),
		},
		{"no budget", thinks(parley.ThinkingByBudget, 24_000, parley.EffortNone, 0), body(thinking(object{"thinkingBudget": 0.0}))},
		{"budget of unknown bounds", thinks(parley.ThinkingByBudget, 0, parley.EffortLow, 0), body(thinking(object{"includeThoughts": true}))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, err := ask(t, gemini.Config{}, fakeai.Script{Text: "fine"}, c.call)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, req.JSON); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, model, want string }{
		{"", "gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"},
		{"/", "models/gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"},
		{"/proxy//?team=a", "gemini-x", "/proxy/v1beta/models/gemini-x:streamGenerateContent?alt=sse&team=a"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			req, err := ask(t, gemini.Config{BaseURL: c.base, Key: "AIza-test"}, fakeai.Script{}, parley.Call{
				Model: parley.Model{ModelRef: parley.ModelRef{Name: c.model}}, Messages: []parley.Message{user("hi")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := req.Path + "?" + req.Query.Encode(); got != c.want {
				t.Errorf("target %s, want %s", got, c.want)
			}
		})
	}
}

func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	p := gemini.New(gemini.Config{BaseURL: up.Gemini()})
	for _, name := range []string{"", "../files", "x?alt=json", "x#", "x%2f", "x:countTokens"} {
		_, err := p.Ask(t.Context(), parley.Call{Model: parley.Model{ModelRef: parley.ModelRef{Name: name}}, Messages: []parley.Message{user("hi")}}, nil)
		if parley.ErrorCode(err) != parley.CodeModelNotFound {
			t.Errorf("%q: %v, want %s", name, err, parley.CodeModelNotFound)
		}
	}
	if n := len(up.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	req, err := ask(t, gemini.Config{Header: http.Header{"Authorization": {"Bearer gateway-secret"}, "X-Title": {"t"}}},
		fakeai.Script{Status: 401, Message: "bad gateway-secret"}, parley.Call{Model: model, Messages: []parley.Message{user("hi")}})
	for name, want := range map[string]string{
		"Authorization": "Bearer gateway-secret", "X-Title": "t", "X-Goog-Api-Key": "", "Content-Type": "application/json",
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if err == nil || strings.Contains(err.Error(), "gateway-secret") {
		t.Errorf("error %v, want one without the key", err)
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://[::1", "localhost:8080"} {
		p := gemini.New(gemini.Config{BaseURL: base})
		_, err := p.Ask(t.Context(), parley.Call{Model: model, Messages: []parley.Message{user("hi")}}, nil)
		if e := parley.AsError(err); e == nil || e.Code != parley.CodeProviderUnavailable || e.Retryable {
			t.Errorf("%s: error %v, want %s", base, err, parley.CodeProviderUnavailable)
		}
		if _, err := p.Models(t.Context()); err == nil {
			t.Errorf("%s: its models are no error", base)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	up.Script("gemini-a", fakeai.Script{})
	up.Script("gemini-b", fakeai.Script{})
	p := gemini.New(gemini.Config{BaseURL: up.Gemini(), Key: "AIza-list"})
	names, err := p.Models(t.Context())
	if diff := cmp.Diff([]string{"gemini-a", "gemini-b"}, names); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got := up.Requests()[0].Header.Get("X-Goog-Api-Key"); got != "AIza-list" {
		t.Errorf("key %q", got)
	}
	up.Script(fakeai.ModelList, fakeai.Script{Status: 401})
	if _, err := p.Models(t.Context()); parley.ErrorCode(err) != parley.CodeAuthenticationFailed {
		t.Errorf("a bad key: %v", err)
	}
	up.Script(fakeai.ModelList, fakeai.Script{Status: 200, Body: "<html>"})
	if _, err := p.Models(t.Context()); err == nil {
		t.Error("a page instead of a list is an error")
	}
}
