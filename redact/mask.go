package redact

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
)

// Redactor masks secrets in texts. It may be used from several goroutines.
type Redactor struct {
	own []string
}

// ownKind is the kind of a value that is one of our own keys.
const ownKind = "own-key"

// shortestOwn keeps a key like "test" or "ollama" from masking ordinary words.
const shortestOwn = 8

// New returns a Redactor that also masks the values in own, the keys of our own
// providers, wherever they stand. Values of fewer than eight bytes are left out.
func New(own []string) *Redactor {
	r := &Redactor{}
	for _, key := range own {
		key = strings.TrimSpace(key)
		if len(key) < shortestOwn {
			continue
		}
		r.own = append(r.own, key)
		if escaped := url.QueryEscape(key); escaped != key {
			r.own = append(r.own, escaped)
		}
	}
	slices.Sort(r.own)
	r.own = slices.Compact(r.own)
	return r
}

// Mask replaces every value in text that looks like a credential with
// "[masked: KIND]". The number of lines stays the same. It returns how many
// values were masked and of which kinds, sorted. Masking a masked text again
// changes nothing.
func (r *Redactor) Mask(text string) (masked string, count int, kinds []string) {
	// What is masked may uncover a neighbour that had overlapped it.
	for range maxPasses {
		found := r.find(text)
		if len(found) == 0 {
			break
		}
		text = replace(text, found)
		count += len(found)
		for _, f := range found {
			kinds = append(kinds, f.kind)
		}
	}
	slices.Sort(kinds)
	return text, count, slices.Compact(kinds)
}

const maxPasses = 8

// finding is a piece of a text that is to be masked.
type finding struct {
	start, end int
	kind       string
	rank       int // where findings overlap the lowest rank gives the kind
}

const (
	rankOwn = iota
	rankPEM
	rankSpecific
	rankGeneric
)

func (r *Redactor) find(text string) []finding {
	found := append(r.findOwn(text), findPEM(text)...)
	found = append(found, rules().find(text)...)
	if len(found) == 0 {
		return nil
	}
	done := maskedAlready(text)
	found = slices.DeleteFunc(found, func(f finding) bool { return overlaps(done, f) })
	return merge(found)
}

func (r *Redactor) findOwn(text string) []finding {
	var found []finding
	for _, key := range r.own {
		for at := 0; ; {
			i := strings.Index(text[at:], key)
			if i < 0 {
				break
			}
			at += i + len(key)
			found = append(found, finding{start: at - len(key), end: at, kind: ownKind, rank: rankOwn})
		}
	}
	return found
}

const maskOpen, maskClose = "[masked: ", "]"

// maskedAlready returns where text holds marks of an earlier masking, in order.
func maskedAlready(text string) []finding {
	var out []finding
	for at := 0; ; {
		i := strings.Index(text[at:], maskOpen)
		if i < 0 {
			return out
		}
		start := at + i
		at = start + len(maskOpen)
		end := at
		for end < len(text) && end < at+64 && (wordByte(text[end]) || text[end] == '-') {
			end++
		}
		if strings.HasPrefix(text[end:], maskClose) {
			out = append(out, finding{start: start, end: end + 1})
			at = end + 1
		}
	}
}

func overlaps(sorted []finding, f finding) bool {
	i, _ := slices.BinarySearchFunc(sorted, f.start, func(s finding, at int) int { return cmp.Compare(s.end, at+1) })
	return i < len(sorted) && sorted[i].start < f.end
}

func merge(found []finding) []finding {
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.rank, b.rank))
	})
	var out []finding
	for _, f := range found {
		if len(out) == 0 || f.start >= out[len(out)-1].end {
			out = append(out, f)
			continue
		}
		last := &out[len(out)-1]
		last.end = max(last.end, f.end)
		if f.rank < last.rank {
			last.kind, last.rank = f.kind, f.rank
		}
	}
	return out
}

func replace(text string, found []finding) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.start])
		b.WriteString(maskOpen + f.kind + maskClose)
		for range strings.Count(text[f.start:f.end], "\n") {
			b.WriteByte('\n')
		}
		at = f.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
