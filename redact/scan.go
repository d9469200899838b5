package redact

import (
	"cmp"
	"slices"
	"strings"
)

// span is a piece of a text, by offsets.
type span struct{ start, end int }

// find applies every rule to the places where one of its keywords stands.
func (s *ruleSet) find(text string) []finding {
	hits := make([][]span, len(s.rules))
	seen := make([]bool, len(s.wordLens))
	s.words.each(text, func(word, end int) bool {
		seen[word] = true
		for _, rule := range s.users[word] {
			hits[rule] = append(hits[rule], span{end - s.wordLens[word], end})
		}
		return true
	})
	var found []finding
	var long []run
	for i, spans := range hits {
		if len(spans) == 0 || slices.ContainsFunc(s.also[i], func(w int) bool { return !seen[w] }) {
			continue
		}
		if long == nil {
			long = runs(text)
		}
		found = append(found, s.apply(s.rules[i], text, spans, long)...)
	}
	return found
}

// run is a stretch of bytes that values are made of.
type run struct {
	start, end int
	mixed      bool // not only letters and _.-
}

// shortestKept is below every rule's shortest run that is worth looking at.
const shortestKept = 8

func runs(text string) []run {
	out := []run{}
	for i := 0; i < len(text); i++ {
		if !runByte[text[i]] {
			continue
		}
		r := run{start: i}
		for ; i < len(text) && runByte[text[i]]; i++ {
			c := text[i]
			r.mixed = r.mixed || c <= '9' && c != '.' && c != '-' || c == '=' || c == '~'
		}
		r.end = i
		if r.end-r.start >= shortestKept {
			out = append(out, r)
		}
	}
	return out
}

// apply runs one rule over windows around its keywords. Windows that touch are
// joined and each is read once (twice where a match reached its end), so the
// time is linear in the text.
func (s *ruleSet) apply(r *rule, text string, hits []span, long []run) []finding {
	sh := r.shape()
	var found []finding
	next := 0 // in long: the first run that does not end before the hit's reach
	for i := 0; i < len(hits); {
		w, ok := window(text, hits[i], sh, long, &next)
		i++
		if !ok {
			continue
		}
		for i < len(hits) && hits[i].start-sh.reach <= w.end {
			n, ok := window(text, hits[i], sh, long, &next)
			if ok {
				w.end = max(w.end, n.end)
			}
			i++
		}
		var got []finding
		got, w.end = s.match(r, text, w)
		found = append(found, got...)
		for i < len(hits) && (hits[i].end+sh.reach <= w.end || w.end == len(text)) {
			i++ // it has been read
		}
	}
	return found
}

// window returns what must be read to see every match around a hit. It is false
// if there can be none.
func window(text string, hit span, sh shape, long []run, next *int) (span, bool) {
	if sh.assigns && !assigned(text, hit.end) {
		return span{}, false
	}
	w := span{max(0, hit.start-sh.reach), min(len(text), hit.end+sh.reach)}
	if sh.run >= shortestKept {
		for *next < len(long) && long[*next].end <= w.start {
			*next++
		}
		fits := false
		for _, r := range long[*next:] {
			if r.start >= w.end {
				break
			}
			if r.end-r.start >= sh.run && (r.mixed || !sh.mixed) {
				fits = true
				break
			}
		}
		if !fits {
			return span{}, false
		}
	}
	// A window that begins or ends inside a word would let \b, ^ and $ match
	// where the text has no such place.
	for n := 0; w.start > 0 && n < reachUnknown && !blank(text[w.start-1]); n++ {
		w.start--
	}
	if sh.endless {
		w.end = runEnd(long, w.end)
	}
	for n := 0; w.end < len(text) && n < reachUnknown && !blank(text[w.end]); n++ {
		w.end++
	}
	return w, true
}

// assigned tells whether an operator may follow a keyword that ends at an
// offset: see assignMiddle. The keyword may be the beginning of a longer one.
func assigned(text string, at int) bool {
	for _, c := range []byte(text[at:min(len(text), at+64)]) {
		switch {
		case strings.IndexByte("=>:|?,", c) >= 0:
			return true
		case wordByte(c), blank(c), c == '.', c == '-', c == '\'', c == '"', c == '\f', c == '\v':
		default:
			return false
		}
	}
	return false
}

// runEnd returns where the run ends that an offset lies in, or the offset.
func runEnd(long []run, at int) int {
	i, _ := slices.BinarySearchFunc(long, at, func(r run, at int) int { return cmp.Compare(r.end, at) })
	if i < len(long) && long[i].start < at {
		return long[i].end
	}
	return at
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// match returns the rule's findings in a window and how far it has read.
func (s *ruleSet) match(r *rule, text string, w span) ([]finding, int) {
	re := r.compile()
	for {
		all := re.FindAllStringSubmatchIndex(text[w.start:w.end], -1)
		if n := len(all); n > 0 && all[n-1][1] == w.end-w.start && w.end < len(text) {
			w.end = min(len(text), w.end+max(w.end-w.start, reachUnknown))
			continue
		}
		var found []finding
		for _, m := range all {
			for k := range m {
				if m[k] >= 0 {
					m[k] += w.start
				}
			}
			if f, ok := s.judge(r, text, m); ok {
				found = append(found, f)
			}
		}
		return found, w.end
	}
}

// judge decides whether a match is a secret: entropy and the lists of what is
// allowed, as gitleaks does.
func (s *ruleSet) judge(r *rule, text string, m []int) (finding, bool) {
	f := finding{start: m[0], end: m[1], kind: r.ID, rank: rankSpecific}
	if strings.Contains(r.ID, "generic") {
		f.rank = rankGeneric
	}
	for g := 1; g < len(m)/2; g++ {
		if m[2*g] < m[2*g+1] && (r.Group == 0 || r.Group == g) {
			f.start, f.end = m[2*g], m[2*g+1]
			break
		}
	}
	for f.start < f.end && text[f.start] == '\n' {
		f.start++
	}
	for f.start < f.end && text[f.end-1] == '\n' {
		f.end--
	}
	secret := text[f.start:f.end]
	if secret == "" || r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return finding{}, false
	}
	match := text[m[0]:m[1]]
	line := lineOf(text, m[0], m[1])
	for _, lists := range [][]allow{s.allow, r.Allow} {
		for i := range lists {
			if lists[i].holds(secret, match, line) {
				return finding{}, false
			}
		}
	}
	return f, true
}

// lineOf returns the lines a match stands on, or what is near in a text with
// endless lines.
func lineOf(text string, start, end int) string {
	const most = 4096
	for n := 0; start > 0 && text[start-1] != '\n' && n < most; n++ {
		start--
	}
	for n := 0; end < len(text) && text[end] != '\n' && n < most; n++ {
		end++
	}
	return text[start:end]
}
