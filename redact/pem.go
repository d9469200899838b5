package redact

import (
	"strings"
)

const pemKind = "private-key"

// findPEM finds private keys in PEM form, also the halves that are left when
// lines of a file were cut off: from BEGIN to the end of what looks like a key,
// and from where that begins to END.
func findPEM(text string) []finding {
	if !strings.Contains(text, "PRIVATE KEY") {
		return nil
	}
	var found []finding
	footer := -1 // the next "-----END " that was looked for, so that it is looked for once
	for at := 0; ; {
		i := strings.Index(text[at:], "-----")
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len("-----")
		label, end, ok := pemLine(text, start)
		if !ok {
			continue
		}
		f := finding{start: start, end: end, kind: pemKind, rank: rankPEM}
		if strings.HasPrefix(label, "BEGIN") {
			if footer < end {
				footer = indexFrom(text, "-----END ", end)
			}
			f.end = bodyAfter(text, end, footer)
		} else {
			f.start = bodyBefore(text, start, found)
		}
		if f.end-f.start > end-start+16 {
			found = append(found, f)
			at = max(at, f.end)
		}
	}
}

// pemLine reads "-----BEGIN X PRIVATE KEY-----" at start, or END.
func pemLine(text string, start int) (label string, end int, ok bool) {
	rest := text[start+len("-----"):]
	if !strings.HasPrefix(rest, "BEGIN ") && !strings.HasPrefix(rest, "END ") {
		return "", 0, false
	}
	n := strings.Index(rest[:min(len(rest), 120)], "-----")
	if n < 0 || strings.Contains(rest[:n], "\n") {
		return "", 0, false
	}
	label = rest[:n]
	if !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return "", 0, false
	}
	return label, start + 2*len("-----") + n, true
}

// longestLine is more than a key has on one line, all of it in JSON included.
const longestLine = 16 << 10

// bodyAfter returns where the key ends that begins after its header: with its
// footer if it has one, else with its last line of base64.
func bodyAfter(text string, from, footer int) int {
	end := from
	for at := from; at < len(text); {
		line, after := cutLine(text, at)
		if at <= footer && footer < at+len(line) {
			if _, e, ok := pemLine(text, footer); ok && bodyLine(text[at:footer]) {
				return e
			}
			return end
		}
		if !bodyLine(line) {
			return end
		}
		if strings.TrimSpace(line) != "" {
			end = at + len(line)
		}
		at = after
	}
	return end
}

// bodyBefore returns where the key begins that ends before its footer at end.
func bodyBefore(text string, end int, found []finding) int {
	floor := 0
	if len(found) > 0 {
		floor = found[len(found)-1].end
	}
	start := end
	for start > floor {
		floor = max(floor, start-longestLine)
		line := strings.LastIndexByte(text[floor:max(floor, start-1)], '\n') + 1 + floor
		if l := strings.TrimRight(text[line:start], "\n"); strings.TrimSpace(l) == "" && line != start || !bodyLine(l) || strings.Contains(l, "-----") {
			break
		}
		start = line
	}
	return start
}

// cutLine returns the line at an offset and where the next begins. What is
// longer than any key's line is cut.
func cutLine(text string, at int) (line string, after int) {
	rest := text[at:min(len(text), at+longestLine)]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i], at + i + 1
	}
	return rest, at + len(rest)
}

// indexFrom is the offset of the first word at or after from, or the text's end.
func indexFrom(text, word string, from int) int {
	if i := strings.Index(text[from:], word); i >= 0 {
		return from + i
	}
	return len(text)
}

// bodyLine tells whether a line may stand inside a key: base64, a header such
// as Proc-Type, or nothing; with the quotes, escapes and margins it has when it
// stands in a source file or in JSON.
func bodyLine(line string) bool {
	line = strings.Trim(line, " \t\r\"'`+,;#*/>|│0123456789\\n")
	for _, header := range []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	for i := range len(line) {
		if c := line[i]; c != '\\' && !(runByte[c] && c != '.' && c != '~' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}
