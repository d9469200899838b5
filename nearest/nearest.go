// Package nearest finds what someone probably meant to write.
package nearest

import (
	"slices"
	"strings"
)

// Names returns up to n of the candidates that are near the word, nearest
// first. It ignores case, and returns nothing rather than something far off.
func Names(word string, candidates []string, n int) []string {
	word = strings.ToLower(word)
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	for _, name := range candidates {
		lower := strings.ToLower(name)
		limit := max(1, min(len(word), len(lower))/3)
		d := distance(word, lower, limit)
		if d > limit && len(word) >= 3 && (strings.HasPrefix(lower, word) || strings.HasPrefix(word, lower) && len(lower) >= 3) {
			d = limit // a beginning is as good as a near miss
		}
		if d <= limit {
			near = append(near, scored{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.distance - b.distance })
	var names []string
	for _, s := range near {
		if len(names) == n {
			break
		}
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

// distance is the edit distance, with a swap of neighbours counted once; it
// gives up with limit+1.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) > limit || len(a) > 256 || len(b) > 256 {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func abs(n int) int { return max(n, -n) }
