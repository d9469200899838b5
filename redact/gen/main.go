// Command gen writes redact/rules.json and redact/NOTICE.md from the rule set
// of gitleaks, read from the module cache at a pinned version. Run it as
//
//	go run ./redact/gen
//
// from the top of the repository. To take a newer set, change version and sum
// and read the difference in rules.json.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	module  = "github.com/zricethezav/gitleaks/v8"
	version = "v8.30.1"
	sum     = "h1:PmEvCfVI7ti9dV3s5aMZUY7sS2GxRvG3yzih7E+cS3w="
)

// also lists words that must occur in a text too before a rule is tried, where
// the rule's own keywords are so common that they filter nothing.
var also = map[string][]string{
	"kubernetes-secret-yaml": {"kind:", "data:"},
}

// Gitleaks wants a quote, a blank or a semicolon after most values. Where the
// value begins with letters of its own, as AIza does, it is a secret before a
// comma or a bracket too, and in a URL.
const (
	narrowEnd = `(?:[\x60'"\s;]|\\[nr]|$)`
	wideEnd   = `(?:[\x60'"\s;,:&<>|()\[\]{}]|\\[nr]|$)`
)

// unguarded are rules that match ordinary code unless the file's name is known,
// and a text that is masked has no name.
var unguarded = map[string]bool{"hashicorp-tf-password": true}

type source struct {
	Allowlist allowlist
	Rules     []struct {
		ID          string
		Regex       string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlists  []allowlist
	}
}

type allowlist struct {
	Condition   string
	Paths       []string
	RegexTarget string
	Regexes     []string
	Stopwords   []string
}

// These mirror the types that package redact reads.
type (
	ruleSet struct {
		Source string  `json:"source"`
		Allow  []allow `json:"allow"`
		Rules  []rule  `json:"rules"`
	}
	rule struct {
		ID       string   `json:"id"`
		Regex    string   `json:"regex"`
		Keywords []string `json:"keywords"`
		Also     []string `json:"also,omitempty"`
		Group    int      `json:"group,omitempty"`
		Entropy  float64  `json:"entropy,omitempty"`
		Allow    []allow  `json:"allow,omitempty"`
	}
	allow struct {
		Target    string   `json:"target,omitempty"`
		All       bool     `json:"all,omitempty"`
		Regexes   []string `json:"regexes,omitempty"`
		Stopwords []string `json:"stopwords,omitempty"`
	}
)

func main() {
	if err := run("redact"); err != nil {
		fmt.Fprintln(os.Stderr, "redact/gen:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	dir, err := download()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "config", "gitleaks.toml"))
	if err != nil {
		return err
	}
	var src source
	if err := toml.Unmarshal(raw, &src); err != nil {
		return fmt.Errorf("read gitleaks.toml: %w", err)
	}
	set, err := convert(src)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(set); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "rules.json"), text.Bytes(), 0o644); err != nil { //nolint:gosec // source files are for everyone
		return err
	}
	return os.WriteFile(filepath.Join(out, "NOTICE.md"), notice(len(set.Rules), licence), 0o644) //nolint:gosec // source files are for everyone
}

// download runs in a folder of its own, so that nothing is added to parley's
// go.mod or go.sum; the go command checks the module against the checksum
// database, and we check it against the pinned sum.
func download() (string, error) {
	tmp, err := os.MkdirTemp("", "redact-gen")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.WriteFile(filepath.Join(tmp, "go.mod"), []byte("module gen\n"), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version) //nolint:noctx // a command of the developer's
	cmd.Dir, cmd.Stderr = tmp, os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download %s@%s: %w", module, version, err)
	}
	var got struct {
		Dir string `json:"Dir"`
		Sum string `json:"Sum"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", err
	}
	if got.Sum != sum {
		return "", fmt.Errorf("%s@%s has the sum %s, want %s", module, version, got.Sum, sum)
	}
	return got.Dir, nil
}

func convert(src source) (ruleSet, error) {
	set := ruleSet{Source: module + "@" + version, Allow: allows([]allowlist{src.Allowlist})}
	for _, r := range src.Rules {
		if r.Regex == "" || unguarded[r.ID] {
			continue
		}
		if strings.HasPrefix(r.Regex, `\b(`) {
			r.Regex = strings.ReplaceAll(r.Regex, narrowEnd, wideEnd)
		}
		if _, err := regexp.Compile(r.Regex); err != nil {
			return ruleSet{}, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if len(r.Keywords) == 0 {
			return ruleSet{}, fmt.Errorf("rule %s has no keyword", r.ID)
		}
		for i, k := range r.Keywords {
			r.Keywords[i] = strings.ToLower(k)
		}
		set.Rules = append(set.Rules, rule{
			ID: r.ID, Regex: r.Regex, Keywords: r.Keywords, Also: also[r.ID],
			Group: r.SecretGroup, Entropy: r.Entropy, Allow: allows(r.Allowlists),
		})
	}
	return set, nil
}

// allows keeps what can be decided without a path. A list whose conditions must
// all hold, one of them a path, never holds.
func allows(lists []allowlist) []allow {
	var out []allow
	for _, l := range lists {
		all := strings.EqualFold(l.Condition, "AND") || l.Condition == "&&"
		if all && len(l.Paths) > 0 || len(l.Regexes)+len(l.Stopwords) == 0 {
			continue
		}
		for i, w := range l.Stopwords {
			l.Stopwords[i] = strings.ToLower(w)
		}
		out = append(out, allow{Target: l.RegexTarget, All: all, Regexes: l.Regexes, Stopwords: l.Stopwords})
	}
	return out
}

func notice(rules int, licence []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Notice\n\n`rules.json` holds %d rules made from `config/gitleaks.toml` of\n", rules)
	fmt.Fprintf(&b, "[gitleaks](https://github.com/gitleaks/gitleaks) %s by `go run ./redact/gen`.\n", version)
	fmt.Fprintf(&b, "Its licence:\n\n```text\n%s\n```\n", strings.TrimSpace(string(licence)))
	return b.Bytes()
}
