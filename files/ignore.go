package files

import (
	"slices"
	"strings"
)

// ignore is the lines of one .gitignore.
type ignore struct {
	dir   []string // the folder it stands in, from the root
	rules []ignoreRule
}

type ignoreRule struct {
	parts  []string
	keep   bool // the line began with "!"
	folder bool // the line ended with "/"
}

// mostRules bounds the work that one file can ask for.
const mostRules = 5000

// parseIgnore reads a .gitignore as gitignore(5) has it.
func parseIgnore(dir []string, text string) ignore {
	ig := ignore{dir: dir}
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		if rule, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok && len(ig.rules) < mostRules {
			ig.rules = append(ig.rules, rule)
		}
	}
	return ig
}

func parseIgnoreLine(line string) (ignoreRule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var rule ignoreRule
	if line[0] == '!' {
		rule.keep = true
		line = line[1:]
	}
	line, rule.folder = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	for part := range strings.SplitSeq(line, "/") {
		if part != "" {
			rule.parts = append(rule.parts, part)
		}
	}
	if len(rule.parts) == 0 {
		return ignoreRule{}, false
	}
	if !anchored {
		rule.parts = append([]string{"**"}, rule.parts...)
	}
	return rule, true
}

// trimBlanks removes blanks at a line's end that no backslash keeps.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
		cut := line[:len(line)-1]
		if slashes := len(cut) - len(strings.TrimRight(cut, `\`)); slashes%2 == 1 {
			return line
		}
		line = cut
	}
	return line
}

// ignored tells whether a path, by its parts from the root, is ignored. The
// lists go from the root inwards; the last line that matches decides. Whether a
// folder above is ignored is for the caller, who does not enter those.
func ignored(lists []ignore, path []string, folder bool) bool {
	for _, ig := range slices.Backward(lists) {
		rel := path[len(ig.dir):]
		for _, rule := range slices.Backward(ig.rules) {
			if (!rule.folder || folder) && matchPath(rule.parts, rel) {
				return !rule.keep
			}
		}
	}
	return false
}
