package files

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isPattern tells whether a path is to be matched. Braces are line ranges, so
// they are no pattern.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// fixedPart splits a pattern into the folder all matches lie in and the rest.
func fixedPart(pattern string) (dir string, rest []string) {
	parts := strings.Split(pattern, "/")
	i := 0
	for i < len(parts)-1 && !isPattern(parts[i]) {
		i++
	}
	dir = strings.Join(parts[:i], "/")
	if dir == "" {
		dir = "."
		if strings.HasPrefix(pattern, "/") {
			dir = "/"
		}
	}
	for _, p := range parts[i:] {
		if p != "" && p != "." {
			rest = append(rest, p)
		}
	}
	return dir, rest
}

// matchPath matches a path's parts with a pattern's. A part "**" stands for any
// number of folders, at the end for at least one part.
func matchPath(pattern, path []string) bool {
	// As in matchName, only the last "**" needs to be tried again.
	p, s, star, mark := 0, 0, -1, 0
	for s < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, mark = p, s
			p++
		case p < len(pattern) && matchName(pattern[p], path[s]):
			p++
			s++
		case star >= 0:
			mark++
			p, s = star+1, mark
		default:
			return false
		}
	}
	return p == len(pattern)
}

// matchName matches one part of a path, as fnmatch does: *, ?, [a-z], [!a-z],
// [[:alpha:]] and \ before a character that is meant as it is.
func matchName(pattern, name string) bool {
	p, s, star, mark := 0, 0, -1, 0
	for s < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, s
			p++
			continue
		}
		r, size := utf8.DecodeRuneInString(name[s:])
		if next, ok := matchOne(pattern, p, r, name[s:s+size]); ok {
			p, s = next, s+size
			continue
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(name[mark:])
		mark += size
		p, s = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches one character and returns where the pattern goes on.
func matchOne(pattern string, p int, r rune, raw string) (next int, ok bool) {
	if p >= len(pattern) {
		return p, false
	}
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		if in, next, closed := matchClass(pattern, p, r); closed {
			return next, in
		}
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	_, size := utf8.DecodeRuneInString(pattern[p:])
	return p + size, pattern[p:p+size] == raw
}

// matchClass matches [...] at p. A bracket that is never closed is no class.
func matchClass(pattern string, p int, r rune) (in bool, next int, closed bool) {
	i := p + 1
	not := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if not {
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return in != not, i + 1, true
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			if name, _, ok := strings.Cut(pattern[i+2:], ":]"); ok {
				in = in || named(name, r)
				i += len(name) + 4
				continue
			}
		}
		var lo, hi rune
		lo, i = classRune(pattern, i)
		hi = lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, i = classRune(pattern, i+1)
		}
		in = in || lo <= r && r <= hi
	}
	return false, p, false
}

func classRune(pattern string, i int) (rune, int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	r, size := utf8.DecodeRuneInString(pattern[i:])
	return r, i + size
}

func named(class string, r rune) bool {
	switch class {
	case "alpha":
		return unicode.IsLetter(r)
	case "digit":
		return '0' <= r && r <= '9'
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "upper":
		return unicode.IsUpper(r)
	case "lower":
		return unicode.IsLower(r)
	case "space":
		return unicode.IsSpace(r)
	case "punct":
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	case "xdigit":
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
	default:
		return false
	}
}
