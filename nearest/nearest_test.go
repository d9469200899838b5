package nearest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/nearest"
)

func TestNames(t *testing.T) {
	t.Parallel()
	candidates := []string{"prompt", "model", "continuation_id", "temperature", "async", "gpt-5-mini", "gpt-5-nano"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"promt", []string{"prompt"}},
		{"modle", []string{"model"}},
		{"Model", []string{"model"}},
		{"gpt-5-mimi", []string{"gpt-5-mini"}},
		{"gpt-5", []string{"gpt-5-mini", "gpt-5-nano"}},
		{"continuation", []string{"continuation_id"}},
		{"zzz", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(c.want, nearest.Names(c.word, candidates, 2)); diff != "" {
			t.Errorf("Names(%q) (-want +got):\n%s", c.word, diff)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("promt", "prompt")
	f.Fuzz(func(t *testing.T, word, candidate string) {
		for _, name := range nearest.Names(word, []string{candidate}, 3) {
			if name != candidate {
				t.Fatalf("Names(%q) invented %q", word, name)
			}
		}
	})
}
