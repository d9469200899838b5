package mcpserver_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

// completed is the first line of an answer, as the contract has it.
var completed = regexp.MustCompile(`^COMPLETED \| CHAT \| conv_[a-z2-7]{26} \| openai/gpt-5-mini \| \d+\.\ds \| 235 tokens \| \$0\.0002$`)

var runID = regexp.MustCompile(`^run_[a-z2-7]{26}$`)

func TestAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{
		Text:  "Four.\n\nAs ever.",
		Usage: &fakeai.Usage{Input: 150, CachedInput: 20, Output: 85, Reasoning: 30},
	})
	r := b.connect(t, "stranger").call("chat", fields{"prompt": "What is 2+2?", "model": "gpt5-mini", "temperature": 0.2})

	if r.isError || !completed.MatchString(r.head()) {
		t.Errorf("first line: got %q, want %s", r.head(), completed)
	}
	wantText := r.head() + "\n\nFour.\n\nAs ever.\n\nNotes: temperature dropped: gpt-5-mini takes none\n\n" +
		"Continue this thread from any tool or model with continuation_id: " + r.thread()
	if diff := cmp.Diff(wantText, r.text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}

	if !strings.Contains(r.head(), r.thread()) || !runID.MatchString(r.run()) {
		t.Errorf("ids: got %q and %q in %q", r.thread(), r.run(), r.head())
	}
	meta := r.at("metadata").(fields)
	attempt := r.at("metadata", "route").(fields)["attempts"].([]any)[0].(fields)
	delete(attempt, "ms")
	if _, ok := meta["response_time_ms"].(float64); !ok {
		t.Errorf("response_time_ms: got %v", meta["response_time_ms"])
	}
	want := fields{
		"status": "completed", "content": "Four.\n\nAs ever.", "title": "What is 2+2?",
		"continuation": fields{"id": r.thread(), "provider": "openai", "model": "gpt-5-mini", "messageCount": 2.0},
		"metadata": fields{
			"model": "gpt-5-mini", "provider": "openai",
			"usage": fields{
				"input_tokens": 150.0, "output_tokens": 85.0, "total_tokens": 235.0,
				"cached_input_tokens": 20.0, "cache_creation_input_tokens": 0.0, "reasoning_tokens": 30.0,
			},
			// 130 × $0.25 + 20 × $0.025 + 85 × $2 a million
			"cost_usd": 0.000203, "response_time_ms": meta["response_time_ms"], "finish_reason": "stop", "run_id": r.run(),
			"route": fields{
				"requested": "gpt5-mini", "chosen": "openai/gpt-5-mini", "reason": "explicit",
				"attempts": []any{fields{"model": "openai/gpt-5-mini", "outcome": "ok"}},
			},
			"notes": []any{"temperature dropped: gpt-5-mini takes none"},
		},
	}
	if diff := cmp.Diff(want, r.structured); diff != "" {
		t.Errorf("structured (-want +got):\n%s", diff)
	}
}

// A model without a price costs an unknown sum, not nothing.
func TestUnknownCost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.connect(t, "stranger").call("chat", fields{"prompt": "x", "model": "openai/brand-new"})
	cost, there := r.at("metadata").(fields)["cost_usd"]
	if !strings.HasSuffix(r.head(), "| cost unknown") || cost != nil || !there {
		t.Errorf("got %q, cost_usd %v", r.head(), cost)
	}
}

func TestHalves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client, structured string
		want               bool
	}{
		"Stranger":       {client: "some-client", want: true},
		"Gemini":         {client: "gemini-cli-mcp-client", want: true},
		"ClaudeCode":     {client: "claude-code"},
		"Codex":          {client: "codex-mcp-client"},
		"Case":           {client: "Claude-Code"},
		"AlwaysClaude":   {client: "claude-code", structured: "always", want: true},
		"AlwaysStranger": {client: "some-client", structured: "always", want: true},
		"NeverStranger":  {client: "some-client", structured: "never"},
		"AutoCodex":      {client: "codex-mcp-client", structured: "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, withServer(func(cfg *mcpserverConfig) { cfg.Structured = c.structured }))
			s := b.connect(t, c.client)
			for tool, args := range map[string]fields{
				"chat":         {"prompt": "hello", "model": model},
				"check_status": {},
				"version":      {},
				"challenge":    {"prompt": "hello"},
				"listmodels":   {},
				"cancel_job":   {"continuation_id": "nobody"}, // an error
			} {
				r := s.call(tool, args)
				if got := r.structured != nil; got != c.want {
					t.Errorf("%s: structured content is there: %v, want %v", tool, got, c.want)
				}
				if status, _, _ := strings.Cut(r.text, " | "); status != "COMPLETED" && status != "FAILED" {
					t.Errorf("%s: the text is not complete: %q", tool, r.text)
				}
			}
		})
	}
}

func TestSmallTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "stranger")

	v := s.call("version", nil)
	if v.head() != "COMPLETED | VERSION | parley 1.2.3" || v.str("version", "version") != "1.2.3" || !strings.Contains(v.text, "2025-11-25") {
		t.Errorf("version: got %s %v", v.text, v.structured)
	}
	c := s.call("challenge", fields{"prompt": "The earth is flat."})
	if c.head() != "COMPLETED | CHALLENGE" || !strings.Contains(c.str("content"), "The earth is flat.") ||
		!strings.Contains(c.str("content"), "critically") {
		t.Errorf("challenge: got %s", c.text)
	}
	if n := len(b.up.Requests()); n != 0 {
		t.Errorf("%d requests went upstream", n)
	}
}

func TestListModels(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) {
		list := c.Models() // one list for all calls: nobody may change it
		c.Models = func() []mcpserverModels { return list }
	}))
	s := b.connect(t, "stranger")
	for _, c := range []struct {
		args     fields
		head     string
		has, not []string
	}{
		{fields{"capability": "images"}, "COMPLETED | LISTMODELS | 1 of 2 providers available", []string{"gpt-5-mini (mini) 400k context effort low/high"}, []string{"plain"}},
		{fields{"capability": "websearch"}, "COMPLETED | LISTMODELS | 1 of 2 providers available", nil, []string{"gpt-5-mini", "plain"}},
		{fields{}, "COMPLETED | LISTMODELS | 1 of 2 providers available", []string{"gpt-5-mini", "plain 8k context", "custom: not available. Set CUSTOM_API_URL."}, nil},
		{fields{"provider": "OpenAI"}, "COMPLETED | LISTMODELS | 1 of 1 providers available", []string{"gpt-5-mini", "plain"}, []string{"custom"}},
	} {
		r := s.call("listmodels", c.args)
		if r.isError || r.head() != c.head {
			t.Errorf("%v: got %q, want %q", c.args, r.head(), c.head)
		}
		for _, want := range c.has {
			if !strings.Contains(r.text, want) {
				t.Errorf("%v: %q is not in:\n%s", c.args, want, r.text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(r.text, not) {
				t.Errorf("%v: %q is in:\n%s", c.args, not, r.text)
			}
		}
	}

	none := setup(t, withServer(func(c *mcpserverConfig) { c.Models = nil }))
	if r := none.connect(t, "stranger").call("listmodels", nil); r.isError {
		t.Errorf("without a list: got %s", r.text)
	}
}
