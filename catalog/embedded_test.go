package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"parley"
	"parley/catalog"
)

// TestEmbeddedIsSound: Embedded trusts what was generated, so this is where it
// is checked: unique names, successors that exist, efforts in order.
func TestEmbeddedIsSound(t *testing.T) {
	t.Parallel()
	if _, err := catalog.New(embedded(t).Models("")); err != nil {
		t.Error(err)
	}
}

func TestEmbeddedIsPlausible(t *testing.T) {
	t.Parallel()
	for _, m := range embedded(t).Models("") {
		if m.MaxThinking >= m.MaxOutput {
			t.Errorf("%s can think for %d tokens, and write %d", m, m.MaxThinking, m.MaxOutput)
		}
		if (m.Thinking == parley.ThinkingByBudget) != (m.MaxThinking > 0) || m.Thinking != "" && !m.Reasons() {
			t.Errorf("%s thinks by %q up to %d, with the efforts %v", m, m.Thinking, m.MaxThinking, m.Efforts)
		}
		if p := m.Price; p != nil && *p != (parley.Price{}) && (p.Input <= 0 || p.Output <= 0 || p.CachedInput <= 0 || p.CachedInput > p.Input || p.CacheWrite < p.Input) {
			t.Errorf("%s has an odd price: %+v", m, *p)
		}
		if p := m.Price; p != nil && *p == (parley.Price{}) && m.Provider != "demo" && m.Name != "openrouter/free" && !strings.HasSuffix(m.Name, ":free") {
			t.Errorf("%s is free?", m)
		}
		if m.Successor != "" && m.Price != nil {
			t.Errorf("%s is retired and has a price", m)
		}
	}
}

// TestCacheWriteOfAnHour: that is what the adapter asks Anthropic for.
func TestCacheWriteOfAnHour(t *testing.T) {
	t.Parallel()
	for _, m := range embedded(t).Models("anthropic") {
		if p := m.Price; p != nil && p.CacheWrite != 2*p.Input {
			t.Errorf("%s: writing to the cache costs %d, and input %d", m, p.CacheWrite, p.Input)
		}
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, tc := range []struct {
		provider, name string
		thinking       parley.Thinking
		max            int
		off            bool
	}{
		{"anthropic", "haiku-4.5", parley.ThinkingByBudget, 32_000, true},
		{"anthropic", "opus-4.1", parley.ThinkingByBudget, 16_000, true},
		{"anthropic", "opus-4.6", parley.ThinkingAdaptive, 0, true},
		{"anthropic", "opus-5.5", parley.ThinkingAdaptive, 0, false},
		{"gemini", "gemini-2.5-pro", parley.ThinkingByBudget, 32_768, false},
		{"gemini", "gemini-2.5-flash", parley.ThinkingByBudget, 24_576, true},
		{"gemini", "flash", parley.ThinkingByLevel, 0, false},
		{"openai", "gpt-5", parley.ThinkingByEffort, 0, false},
		{"openai", "gpt-5.1", parley.ThinkingByEffort, 0, true},
	} {
		m, _ := c.Lookup(tc.provider, tc.name)
		if off := slices.Contains(m.Efforts, parley.EffortNone); m.Thinking != tc.thinking || m.MaxThinking != tc.max || off != tc.off {
			t.Errorf("%s thinks by %q up to %d, and can stop: %t", m, m.Thinking, m.MaxThinking, off)
		}
	}
}

// TestDialHasOpenAIsRows, without what DIAL does not promise.
func TestDialHasOpenAIsRows(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	rows, of := c.Models("dial"), c.Models("openai")
	if len(rows) != len(of) || len(rows) == 0 {
		t.Fatalf("%d rows, and OpenAI has %d", len(rows), len(of))
	}
	for i, m := range rows {
		if m.Name != of[i].Name || m.Price != nil || m.WebSearch {
			t.Errorf("%s: %+v", of[i], m)
		}
	}
}

// BenchmarkEmbedded is part of every start of the program: less than 2 ms.
func BenchmarkEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Embedded(); err != nil {
			b.Fatal(err)
		}
	}
}
