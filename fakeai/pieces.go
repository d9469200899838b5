package fakeai

import (
	"iter"
	"strings"
	"unicode/utf8"
)

const (
	wordMin = 20
	wordMax = 40
)

// pieces cuts text into n parts of about as many runes each, or, when n is 0,
// into words. No part is empty.
func pieces(text string, n int) iter.Seq[string] {
	if n <= 0 {
		return words(text)
	}
	return func(yield func(string) bool) {
		runes := utf8.RuneCountInString(text)
		n := min(n, runes)
		for i := range n {
			end := 0
			for range runes*(i+1)/n - runes*i/n {
				_, size := utf8.DecodeRuneInString(text[end:])
				end += size
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// words cuts after the first space that makes a part of wordMin bytes, and
// before wordMax bytes where there is none.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > wordMax {
			end := wordMax
			if i := strings.IndexByte(text[wordMin-1:wordMax], ' '); i >= 0 {
				end = wordMin + i
			}
			for end > wordMin && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
		if text != "" {
			yield(text)
		}
	}
}
