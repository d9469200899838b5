package main

import (
	"testing"

	"parley"
	"parley/catalog"
	"parley/fakeai"
	"parley/provider/openai"
)

// The two benchmarks ask the same upstream the same question, which answers at
// once: what BenchmarkChatStdio takes longer is what parley costs per call,
// the MCP round trip and the commit to the store included.

// BenchmarkChatStdio is one chat after the other through the real program.
func BenchmarkChatStdio(b *testing.B) {
	r := newRig(b)
	r.up.Keep(1)
	r.up.Script("", fakeai.Script{Text: benchAnswer})
	s := r.serve()
	s.ok("completed", "chat", args{"prompt": benchPrompt})
	for b.Loop() {
		if got, err := s.tool("chat", args{"prompt": benchPrompt}).answer(); err != nil || got.Content != benchAnswer {
			b.Fatalf("%v\n%s", err, got.text)
		}
	}
}

// BenchmarkDirect is the same request by the provider alone, without parley
// around it.
func BenchmarkDirect(b *testing.B) {
	r := newRig(b)
	r.up.Keep(1)
	r.up.Script("", fakeai.Script{Text: benchAnswer})
	known, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	model, ok := known.Lookup("openai", "gpt-5-mini")
	if !ok {
		b.Fatal("no gpt-5-mini in the catalogue")
	}
	p := openai.New(openai.Config{ID: "openai", BaseURL: r.up.OpenAI(), Key: testKey})
	ask := parley.Call{
		Model: model, System: "be brief",
		Messages: []parley.Message{{Role: parley.RoleUser, Parts: []parley.Part{{Text: benchPrompt}}}},
	}
	for b.Loop() {
		reply, err := p.Ask(b.Context(), ask, func(parley.Delta) {})
		if err != nil || reply.Text != benchAnswer {
			b.Fatalf("%v, %q", err, reply.Text)
		}
	}
}

const (
	benchPrompt = "Should this service use a queue or a cron job, and what speaks against it?"
	benchAnswer = "A queue, because work that arrives while the last batch is still going on is not lost, " +
		"and because each piece can be tried again on its own. Against it speaks one more thing to run."
)
