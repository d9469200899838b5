package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestRulesCompile(t *testing.T) {
	t.Parallel()
	set, err := readRules(gitleaksJSON, extraJSON)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.rules) < 200 {
		t.Errorf("%d rules, want gitleaks' two hundred and more", len(set.rules))
	}
	filtered := 0
	for _, r := range set.rules {
		if r.compile() == nil || len(r.Keywords) == 0 {
			t.Errorf("%s: no expression or no keyword", r.ID)
		}
		if r.shape().run >= shortestKept {
			filtered++
		}
		for i := range r.Allow {
			r.Allow[i].compiled()
			r.Allow[i].stops()
		}
	}
	if filtered < 100 {
		t.Errorf("only %d rules know the run they need", filtered)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	w := newWords([]string{"he", "she", "his", "hers", "-----begin"})
	var got []string
	w.each("uSHErs -----BEGIN", func(word, end int) bool {
		got = append(got, []string{"he", "she", "his", "hers", "-----begin"}[word]+"@"+string(rune('a'+end)))
		return true
	})
	slices.Sort(got)
	if want := []string{"-----begin@r", "he@e", "hers@g", "she@e"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if newWords(nil).in("anything") {
		t.Error("no words were found")
	}
}

// TestWindowsMissNothing compares looking around keywords with looking at the
// whole text, for one value of each rule that a generator can make.
func TestWindowsMissNothing(t *testing.T) {
	t.Parallel()
	set, err := readRules(gitleaksJSON, extraJSON)
	if err != nil {
		t.Fatal(err)
	}
	const filler = "for i := range items { process(items[i]) } // the usual\n"
	tried := 0
	for _, r := range set.rules {
		sample, ok := example(r.Regex)
		if !ok {
			continue
		}
		tried++
		text := strings.Repeat(filler, 40) + sample + "\n" + strings.Repeat(filler, 40)
		re := r.compile()
		if !re.MatchString(text) {
			continue
		}
		want := re.FindStringIndex(text)
		i := slices.Index(set.rules, r)
		low := strings.ToLower(text)
		if !slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(low, k) }) {
			continue
		}
		var hits []span
		set.words.each(text, func(word, end int) bool {
			if slices.Contains(set.users[word], i) {
				hits = append(hits, span{end - set.wordLens[word], end})
			}
			return true
		})
		sh := r.shape()
		next, seen := 0, false
		long := runs(text)
		for _, h := range hits {
			if w, ok := window(text, h, sh, long, &next); ok && w.start <= want[0] && want[1] <= w.end {
				seen = true
			}
		}
		if !seen && !sh.mixed {
			t.Errorf("%s: no window holds the match %q", r.ID, text[want[0]:want[1]])
		}
	}
	if tried < 180 {
		t.Errorf("examples for %d rules only", tried)
	}
}
