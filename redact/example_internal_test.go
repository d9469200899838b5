package redact

import (
	"regexp/syntax"
	"strings"
)

// example makes a text that an expression matches.
func example(expr string) (string, bool) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	n := 0
	write(tree, &b, &n)
	return b.String(), true
}

func write(re *syntax.Regexp, b *strings.Builder, n *int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		pair := (*n / 3 * 2) % len(re.Rune)
		lo, hi := re.Rune[pair], re.Rune[pair+1]
		if lo > 0x7f || lo < ' ' {
			lo, hi = re.Rune[0], re.Rune[1]
			for i := 0; i < len(re.Rune) && (lo < ' ' || lo > 0x7e); i += 2 {
				lo, hi = re.Rune[i], re.Rune[i+1]
			}
		}
		*n++
		b.WriteRune(lo + rune(*n*7)%(hi-lo+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpRepeat:
		for range re.Min {
			write(re.Sub[0], b, n)
		}
	case syntax.OpPlus, syntax.OpCapture:
		write(re.Sub[0], b, n)
	case syntax.OpAlternate:
		write(re.Sub[0], b, n)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(sub, b, n)
		}
	default:
	}
}
