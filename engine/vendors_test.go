package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"parley"
	"parley/engine"
	"parley/fakeai"
	"parley/provider/anthropic"
	"parley/provider/gemini"
	"parley/provider/openai"
)

// One thread through GPT, Claude and Gemini in turn, twice around: each request
// is complete, in order and labelled, holds nothing twice, and begins with the
// same model's request before.
func TestThreadThroughThreeVendors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	models := []string{"gpt-5-mini", "claude-haiku-4-5-20251001", "gemini-2.5-flash"}
	vendors := []string{"openai", "anthropic", "gemini"}
	turn := 0
	b.up.Script("", fakeai.Script{Reply: func(r *fakeai.Request) string {
		turn++
		return fmt.Sprintf("<answer %d of %s>", turn, r.Model)
	}})
	p := b.start(func(c *engine.Config) {
		c.Providers = []parley.Provider{
			openai.New(openai.Config{BaseURL: b.up.OpenAI(), Key: "sk-o"}),
			anthropic.New(anthropic.Config{BaseURL: b.up.Anthropic(), Key: "sk-a"}),
			gemini.New(gemini.Config{BaseURL: b.up.Gemini(), Key: "sk-g"}),
		}
	})
	thread := ""
	for n := 1; n <= 6; n++ {
		req := question(fmt.Sprintf("<question %d>", n))
		req.Model, req.ThreadID = models[(n-1)%3], thread
		run := p.ask(req)
		if run.State != parley.StateCompleted || run.Result.Turn != n {
			t.Fatalf("turn %d: %s %v", n, run.State, run.Err)
		}
		thread = run.ThreadID
	}
	reqs := b.up.Requests()
	for i, r := range reqs {
		text, at := r.Text(), 0
		for n := 1; n <= i+1; n++ {
			at = inOrder(t, i+1, text, fmt.Sprintf("<question %d>", n), at)
			if n <= i {
				by := models[(n-1)%3]
				at = inOrder(t, i+1, text, "| "+vendors[(n-1)%3]+"/"+by, at)
				at = inOrder(t, i+1, text, fmt.Sprintf("<answer %d of %s>", n, by), at)
			}
		}
		for _, m := range r.Messages {
			if own := "of " + models[i%3] + ">"; m.Role == "assistant" && !strings.Contains(m.Text, own) {
				t.Errorf("request %d passes off as its own: %q", i+1, m.Text)
			}
		}
		if i >= 3 {
			for j, m := range reqs[i-3].Messages {
				if r.Messages[j] != m {
					t.Errorf("message %d of request %d differs from the same model's request before", j, i+1)
				}
			}
		}
	}
}

// inOrder makes sure that want stands once in text, after at.
func inOrder(t *testing.T, request int, text, want string, at int) int {
	t.Helper()
	found := strings.Index(text[at:], want)
	if found < 0 || strings.HasPrefix(want, "<") && strings.Count(text, want) != 1 {
		t.Fatalf("request %d: %q is missing, out of order or not once:\n%s", request, want, text)
	}
	return at + found
}
