package anthropic_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/anthropic"
	"parley/provider/wire"
)

// ask starts an upstream, points a provider with the given configuration at it
// and asks.
func ask(t *testing.T, cfg anthropic.Config, script fakeai.Script, call parley.Call) (*fakeai.Request, parley.Reply, error) {
	t.Helper()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	up.Script("", script)
	cfg.HTTPClient = wire.Client(nil)
	t.Cleanup(cfg.HTTPClient.CloseIdleConnections)
	cfg.BaseURL = up.Anthropic() + cfg.BaseURL
	reply, err := anthropic.New(cfg).Ask(t.Context(), call, nil)
	requests := up.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want 1 (%v)", len(requests), err)
	}
	return requests[0], reply, err
}

func says(role parley.Role, texts ...string) parley.Message {
	m := parley.Message{Role: role}
	for _, text := range texts {
		m.Parts = append(m.Parts, parley.Part{Text: text})
	}
	return m
}

func user(texts ...string) parley.Message { return says(parley.RoleUser, texts...) }

func textBlock(text string) object { return object{"type": "text", "text": text} }

func message(role string, blocks ...any) object { return object{"role": role, "content": blocks} }

func TestRequestBody(t *testing.T) {
	t.Parallel()
	temp := 0.5
	plain := parley.Call{Model: parley.Model{ModelRef: parley.ModelRef{Name: "claude-x"}}, Messages: []parley.Message{user("hi")}}
	asked := func(m parley.Model, o parley.Options, limit int) parley.Call {
		call := plain
		call.Model, call.Options, call.MaxOutput = m, o, limit
		return call
	}
	capable := func(way parley.Thinking) parley.Model {
		m := plain.Model
		m.MaxOutput, m.Thinking, m.Efforts = 8000, way, parley.Efforts()
		return m
	}
	body := func(more object) object {
		o := object{"model": "claude-x", "stream": true, "max_tokens": 8000.0, "messages": []any{message("user", textBlock("hi"))}}
		maps.Copy(o, more)
		return o
	}
	cold := []string{"temperature dropped: claude-x takes none while it thinks"}
	adaptive := object{"type": "adaptive", "display": "summarized"}
	for _, c := range []struct {
		name  string
		call  parley.Call
		want  object
		notes []string
	}{
		{name: "plain", call: plain, want: body(object{"max_tokens": 4096.0})},
		{
			name: "full",
			call: parley.Call{
				Model: plain.Model, System: "Be brief.", MaxOutput: 2000, CacheKey: "conv_1",
				Messages: []parley.Message{
					user("a.go", " \n", "why?"), says(parley.RoleAssistant, "because"), says(parley.RoleAssistant, ""),
					{Role: parley.RoleUser, Parts: []parley.Part{{Image: &parley.Image{MIME: "image/png", Data: []byte("\x89PNG")}}, {Text: "and?"}}},
				},
				Options: parley.Options{Temperature: &temp, WebSearch: true, Effort: parley.EffortHigh, Verbosity: "low"},
			},
			want: object{
				"model": "claude-x", "stream": true, "max_tokens": 2000.0, "temperature": 0.5,
				"system": []any{textBlock("Be brief.")},
				"messages": []any{
					message("user", textBlock("a.go"), textBlock("why?")),
					message("assistant", textBlock("because")),
					message("user", object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}, textBlock("and?")),
				},
				"tools": []any{object{"type": "web_search_20250305", "name": "web_search", "max_uses": 5.0}},
			},
		},
		{
			name: "budget", call: asked(capable(parley.ThinkingByBudget), parley.Options{Effort: parley.EffortMedium, Temperature: &temp}, 0),
			want: body(object{"thinking": object{"type": "enabled", "budget_tokens": 2640.0}}), notes: cold,
		},
		{
			name: "least budget", call: asked(capable(parley.ThinkingByBudget), parley.Options{Effort: parley.EffortMinimal}, 0),
			want: body(object{"thinking": object{"type": "enabled", "budget_tokens": 1024.0}}),
		},
		{
			name: "whole budget", call: asked(capable(parley.ThinkingByBudget), parley.Options{Effort: parley.EffortMax}, 0),
			want: body(object{"thinking": object{"type": "enabled", "budget_tokens": 6000.0}}),
		},
		{
			name: "no room to think", call: asked(capable(parley.ThinkingByBudget), parley.Options{Effort: parley.EffortLow, Temperature: &temp}, 1300),
			want:  body(object{"max_tokens": 1300.0, "temperature": 0.5}),
			notes: []string{"reasoning_effort dropped: an output limit of 1300 tokens leaves no room to think"},
		},
		{
			name: "no budget", call: asked(capable(parley.ThinkingByBudget), parley.Options{Effort: parley.EffortNone, Temperature: &temp}, 0),
			want: body(object{"thinking": object{"type": "disabled"}, "temperature": 0.5}),
		},
		{
			name: "adaptive", call: asked(capable(parley.ThinkingAdaptive), parley.Options{Effort: parley.EffortXHigh, Temperature: &temp}, 0),
			want: body(object{"thinking": adaptive, "output_config": object{"effort": "xhigh"}}), notes: cold,
		},
		{
			name: "adaptive minimal", call: asked(capable(parley.ThinkingAdaptive), parley.Options{Effort: parley.EffortMinimal}, 0),
			want: body(object{"thinking": adaptive, "output_config": object{"effort": "low"}}),
		},
		{
			name: "adaptive none", call: asked(capable(parley.ThinkingAdaptive), parley.Options{Effort: parley.EffortNone}, 0),
			want: body(object{"thinking": object{"type": "disabled"}}),
		},
		{
			name: "effort alone", call: asked(capable(parley.ThinkingByEffort), parley.Options{Effort: parley.EffortMax, Temperature: &temp}, 0),
			want: body(object{"output_config": object{"effort": "max"}, "temperature": 0.5}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, reply, err := ask(t, anthropic.Config{}, fakeai.Script{Text: "fine"}, c.call)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, req.JSON); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, reply.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// marks names the blocks that are to be cached.
func marks(body object) []string {
	var found []string
	look := func(where string, blocks any) {
		list, _ := blocks.([]any)
		for i, b := range list {
			if mark, ok := b.(object)["cache_control"]; ok {
				name := where + string(rune('0'+i))
				if diff := cmp.Diff(object{"type": "ephemeral", "ttl": "1h"}, mark); diff != "" {
					name += " is wrong: " + diff
				}
				found = append(found, name)
			}
		}
	}
	look("system ", body["system"])
	list, _ := body["messages"].([]any)
	for i, m := range list {
		look(string(rune('0'+i))+"/", m.(object)["content"])
	}
	return found
}

func TestCacheMarks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word", 1024) // 1,024 tokens
	image := parley.Message{Role: parley.RoleUser, Parts: []parley.Part{{Text: "this?"}, {Image: &parley.Image{MIME: "image/png", Data: []byte("x")}}}}
	answer := says(parley.RoleAssistant, "yes")
	for _, c := range []struct {
		name, model, system string
		messages            []parley.Message
		want                []string
	}{
		{"short", "claude-x", "Be brief.", []parley.Message{user("hi")}, nil},
		{"one short of it", "claude-x", "", []parley.Message{user(long[4:])}, nil},
		{"first turn", "claude-x", "Be brief.", []parley.Message{user("a.go", long)}, []string{"0/1"}},
		{"long system", "claude-x", long, []parley.Message{user("hi")}, []string{"system 0", "0/0"}},
		{"third turn", "claude-x", long, []parley.Message{user("a"), answer, user("b", "c"), answer, user("d")}, []string{"system 0", "2/1", "4/0"}},
		{"grown just now", "claude-x", "", []parley.Message{user("a"), answer, user(long)}, []string{"2/0"}},
		{"grown in an answer", "claude-x", "", []parley.Message{user("a"), says(parley.RoleAssistant, long), user("b")}, []string{"2/0"}},
		{"images count", "claude-x", "", []parley.Message{image, answer, image}, []string{"2/1"}},
		{"haiku", "claude-3-5-haiku", long, []parley.Message{user("a"), answer, user(long)}, []string{"2/0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, _, err := ask(t, anthropic.Config{}, fakeai.Script{}, parley.Call{
				Model: parley.Model{ModelRef: parley.ModelRef{Name: c.model}}, System: c.system, Messages: c.messages,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, marks(req.JSON)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestTarget(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "/v1/messages?", "/": "/v1/messages?", "/proxy//?team=a": "/proxy/v1/messages?team=a",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			req, _, err := ask(t, anthropic.Config{BaseURL: base}, fakeai.Script{}, parley.Call{Model: model, Messages: []parley.Message{user("hi")}})
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
	req, _, err := ask(t, anthropic.Config{
		Header: http.Header{"Authorization": {"Bearer gateway-secret"}, "Anthropic-Beta": {"one"}},
	}, fakeai.Script{Status: 401, Message: "bad gateway-secret"}, parley.Call{Model: model, Messages: []parley.Message{user("hi")}})
	for name, want := range map[string]string{
		"Authorization": "Bearer gateway-secret", "Anthropic-Beta": "one", "X-Api-Key": "", "Anthropic-Version": "2023-06-01",
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
		p := anthropic.New(anthropic.Config{BaseURL: base})
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
	up.Script("claude-a", fakeai.Script{})
	up.Script("claude-b", fakeai.Script{})
	p := anthropic.New(anthropic.Config{BaseURL: up.Anthropic(), Key: "sk-list"})
	names, err := p.Models(t.Context())
	if diff := cmp.Diff([]string{"claude-a", "claude-b"}, names); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got := up.Requests()[0].Header.Get("X-Api-Key"); got != "sk-list" {
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
