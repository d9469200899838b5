package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"parley/config"
	"parley/mcpserver"
)

//go:generate go test . -run ^TestREADMEIsCurrent$ -update-readme

var updateReadme = flag.Bool("update-readme", false, "write the generated parts of the README anew")

const readme = "../../README.md"

func TestREADMEIsCurrent(t *testing.T) { //nolint:paralleltest // may write the file
	old, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	current := between(t, string(old), "TOOLS", toolsTable())
	current = between(t, current, "SETTINGS", settingsTable())
	if current == string(old) {
		return
	}
	if !*updateReadme {
		t.Fatal("the README's tables are not current; run `make generate`")
	}
	if err := os.WriteFile(readme, []byte(current), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces what stands between the markers of a generated part.
func between(t *testing.T, text, name, table string) string {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- BEGIN %s (generated: make generate) -->\n", name), fmt.Sprintf("<!-- END %s -->", name)
	i, j := strings.Index(text, begin), strings.Index(text, end)
	if i < 0 || j < i {
		t.Fatalf("the README has no markers for %s", name)
	}
	return text[:i+len(begin)] + table + text[j:]
}

func toolsTable() string {
	var b strings.Builder
	b.WriteString("| tool | what it does | fields (required in bold) |\n|---|---|---|\n")
	for _, tool := range mcpserver.Tools() {
		var fields []string
		for _, f := range tool.Fields {
			if f.Required {
				fields = append(fields, "**"+f.Name+"**")
			} else {
				fields = append(fields, f.Name)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", tool.Name, tool.About, strings.Join(fields, ", "))
	}
	return b.String()
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| variable | in parley.toml | what it does |\n|---|---|---|\n")
	for _, s := range config.Settings() {
		key := ""
		if s.Key != "" {
			key = "`" + s.Key + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.Join(s.Env, "`, `"), key, s.About)
	}
	return b.String()
}
