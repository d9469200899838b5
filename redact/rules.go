package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

//go:embed rules.json
var gitleaksJSON []byte

//go:embed extra.json
var extraJSON []byte

type ruleFile struct {
	Source string  `json:"source"`
	Allow  []allow `json:"allow"`
	Rules  []*rule `json:"rules"`
}

// rule is one kind of credential.
type rule struct {
	ID       string   `json:"id"`
	Regex    string   `json:"regex"`
	Keywords []string `json:"keywords"` // one of them is in or beside every match
	Also     []string `json:"also"`     // all of them are somewhere in the text
	Group    int      `json:"group"`    // which group is the secret; 0: the first that matched, or all
	Entropy  float64  `json:"entropy"`  // in bits a character, to be exceeded
	Allow    []allow  `json:"allow"`

	// compile is slow and most rules are never needed.
	compile func() *regexp.Regexp
	shape   func() shape
}

// allow is a list of what a rule finds and is no secret.
type allow struct {
	Target    string   `json:"target"` // match, line, or the secret itself
	All       bool     `json:"all"`    // regexes and stopwords must both hold
	Regexes   []string `json:"regexes"`
	Stopwords []string `json:"stopwords"`

	compiled func() []*regexp.Regexp
	stops    func() *words
}

func (a *allow) prepare() {
	a.compiled = sync.OnceValue(func() []*regexp.Regexp {
		var out []*regexp.Regexp
		for _, re := range a.Regexes {
			out = append(out, regexp.MustCompile(re))
		}
		return out
	})
	a.stops = sync.OnceValue(func() *words { return newWords(a.Stopwords) })
}

func (a *allow) holds(secret, match, line string) bool {
	target := secret
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = line
	}
	byRegex := slices.ContainsFunc(a.compiled(), func(re *regexp.Regexp) bool { return re.MatchString(target) })
	if a.All && len(a.Regexes) > 0 && len(a.Stopwords) > 0 {
		return byRegex && a.stops().in(secret)
	}
	return byRegex || len(a.Stopwords) > 0 && a.stops().in(secret)
}

// ruleSet is all rules with one automaton over their keywords.
type ruleSet struct {
	allow    []allow
	rules    []*rule
	words    *words
	wordLens []int
	users    [][]int // by word: the rules that look around it
	also     [][]int // by rule: the words that must occur too
}

// rules are read once, when the first text is masked.
var rules = sync.OnceValue(func() *ruleSet {
	set, err := readRules(gitleaksJSON, extraJSON)
	if err != nil {
		panic(err) // the files are compiled in, and a test reads them
	}
	return set
})

func readRules(files ...[]byte) (*ruleSet, error) {
	set := &ruleSet{}
	for _, raw := range files {
		var f ruleFile
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, fmt.Errorf("read the rules: %w", err)
		}
		set.allow = append(set.allow, f.Allow...)
		set.rules = append(set.rules, f.Rules...)
	}
	for i := range set.allow {
		set.allow[i].prepare()
	}
	ids := map[string]int{}
	var list []string
	id := func(word string) int {
		if _, ok := ids[word]; !ok {
			ids[word] = len(list)
			list = append(list, word)
			set.wordLens = append(set.wordLens, len(word))
			set.users = append(set.users, nil)
		}
		return ids[word]
	}
	set.also = make([][]int, len(set.rules))
	for i, r := range set.rules {
		for j := range r.Allow {
			r.Allow[j].prepare()
		}
		r.compile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Regex) })
		r.shape = sync.OnceValue(r.measure)
		for _, k := range r.Keywords {
			w := id(strings.ToLower(k))
			set.users[w] = append(set.users[w], i)
		}
		for _, k := range r.Also {
			set.also[i] = append(set.also[i], id(strings.ToLower(k)))
		}
	}
	set.words = newWords(list)
	return set, nil
}

// shape is what can be known about every match of a rule without matching: it
// makes it cheap to see that most of a text cannot match.
type shape struct {
	reach   int  // bytes of a match on either side of a keyword, at most
	endless bool // a match may be longer than that
	run     int  // every match has a run of so many letters, digits or _.=+/~-
	mixed   bool // and one of them is neither a letter nor one of _.-
	assigns bool // between the keyword and the value stands what assigns it
}

const (
	reachUnknown = 512
	reachMost    = 2048
)

// Most of gitleaks' rules have one form: a name with the keyword in it, an
// operator, the value.
const (
	assignStart  = `(?i)[\w.-]{0,50}?(?:`
	assignMiddle = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
)

func (r *rule) measure() shape {
	tree, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		return shape{reach: reachUnknown, endless: true}
	}
	length, endless := longest(tree)
	s := shape{reach: min(length, reachMost), endless: endless, run: shortestRun(tree)}
	s.assigns = r.assigns()
	if endless && s.run == 0 { // else a window goes on to the end of the run
		s.reach = max(s.reach, reachUnknown)
	}
	for _, a := range r.Allow {
		if a.Target == "" && !a.All && slices.Contains(a.Regexes, `^[a-zA-Z_.-]+$`) {
			s.mixed = s.run > 0
		}
	}
	return s
}

// assigns tells whether a rule has the common form with its keywords in the name.
func (r *rule) assigns() bool {
	rest, ok := strings.CutPrefix(r.Regex, assignStart)
	name, _, found := strings.Cut(rest, assignMiddle)
	if !ok || !found {
		return false
	}
	re, err := regexp.Compile("(?i)(?:" + name)
	return err == nil && !slices.ContainsFunc(r.Keywords, func(k string) bool { return !re.MatchString(k) })
}

// longest returns how many bytes a match may have, what repeats without limit
// counted once, and whether there was such a thing.
func longest(re *syntax.Regexp) (n int, endless bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune)), false
	case syntax.OpCharClass:
		if len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] > 0x17f { // a class that leaves ASCII; k and s fold just outside
			return 4, false
		}
		return 1, false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4, false
	case syntax.OpStar, syntax.OpPlus:
		n, _ = longest(re.Sub[0])
		return n, true
	case syntax.OpRepeat:
		n, endless = longest(re.Sub[0])
		if re.Max < 0 {
			return n * max(re.Min, 1), true
		}
		return n * re.Max, endless
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			m, e := longest(sub)
			n, endless = max(n, m), endless || e
		}
		return n, endless
	default:
		for _, sub := range re.Sub {
			m, e := longest(sub)
			n, endless = n+m, endless || e
		}
		return n, endless
	}
}

// shortestRun returns how many bytes in a row from [runByte] every match has,
// as far as a single repeated class tells.
func shortestRun(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpRepeat:
		if sub := re.Sub[0]; sub.Op == syntax.OpCharClass && runClass(sub.Rune) {
			return re.Min
		}
		if re.Min > 0 {
			return shortestRun(re.Sub[0])
		}
		return 0
	case syntax.OpPlus, syntax.OpCapture:
		return shortestRun(re.Sub[0])
	case syntax.OpConcat:
		n := 0
		for _, sub := range re.Sub {
			n = max(n, shortestRun(sub))
		}
		return n
	case syntax.OpAlternate:
		n := shortestRun(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, shortestRun(sub))
		}
		return n
	default:
		return 0
	}
}

// runClass tells whether a class has only bytes of a run. Letters that are
// ASCII only when folded (ſ, K) do not count: a value has none.
func runClass(pairs []rune) bool {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == pairs[i+1] && (pairs[i] == 'ſ' || pairs[i] == 'K') {
			continue
		}
		if pairs[i+1] > 0x7f {
			return false
		}
		for c := pairs[i]; c <= pairs[i+1]; c++ {
			if !runByte[c] {
				return false
			}
		}
	}
	return true
}

// runByte are the bytes that values are made of.
var runByte = func() (set [256]bool) {
	for c := range 256 {
		set[c] = c < 0x80 && (wordByte(byte(c)) || strings.IndexByte(".=+/~-\\", byte(c)) >= 0)
	}
	return set
}()

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
}
