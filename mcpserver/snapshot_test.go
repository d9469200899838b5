package mcpserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/brief"
)

// maxToolTokens is what the tools may cost every conversation of every client.
const maxToolTokens = 900

// golden compares with a checked-in file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; look at the change and run go generate (-want +got):\n%s", path, diff)
	}
}

type toolSize struct {
	Name   string          `json:"name"`
	Tokens int             `json:"tokens"`
	Tool   json.RawMessage `json:"tool"`
}

// TestToolSnapshot holds what clients are told about the tools, and what that
// costs them: a change shows in review.
func TestToolSnapshot(t *testing.T) {
	t.Parallel()
	c := setup(t).lines(t)
	c.initialize("stranger", "2025-11-25")
	var listed struct {
		Tools json.RawMessage `json:"tools"`
	}
	var tools []json.RawMessage
	result := c.result(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal(result, &listed); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(listed.Tools, &tools); err != nil {
		t.Fatal(err)
	}
	counter := brief.NewCounter()
	count := func(text []byte) int {
		n, err := counter.Count(t.Context(), string(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	snapshot := struct {
		TotalTokens int        `json:"total_tokens"`
		Tools       []toolSize `json:"tools"`
	}{TotalTokens: count(listed.Tools)}
	for _, raw := range tools {
		name := checkTool(t, raw)
		snapshot.Tools = append(snapshot.Tools, toolSize{name, count(raw), raw})
	}
	if snapshot.TotalTokens > maxToolTokens {
		t.Errorf("the tools cost %d tokens, the limit is %d", snapshot.TotalTokens, maxToolTokens)
	}
	if len(tools) != 6 {
		t.Errorf("got %d tools, want 6", len(tools))
	}
	pretty, err := json.MarshalIndent(snapshot, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "tools.json"), append(pretty, '\n'))
}

// checkTool holds a tool to what every tool has, and returns its name.
func checkTool(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var tool struct {
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Annotations *struct {
			ReadOnlyHint  bool  `json:"readOnlyHint"`
			OpenWorldHint *bool `json:"openWorldHint"`
		} `json:"annotations"`
		InputSchema struct {
			Type                 string          `json:"type"`
			Properties           map[string]any  `json:"properties"`
			AdditionalProperties json.RawMessage `json:"additionalProperties"`
		} `json:"inputSchema"`
		OutputSchema any `json:"outputSchema"`
	}
	if err := json.Unmarshal(raw, &tool); err != nil {
		t.Fatal(err)
	}
	switch s := tool.InputSchema; {
	case tool.Title == "" || tool.Description == "":
		t.Errorf("%s lacks a title or a description", tool.Name)
	case tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Annotations.OpenWorldHint == nil:
		t.Errorf("%s lacks annotations", tool.Name)
	case s.Type != "object" || s.Properties == nil || string(s.AdditionalProperties) != "false":
		t.Errorf("%s: the schema is not a closed object: %s", tool.Name, raw)
	case tool.OutputSchema != nil:
		t.Errorf("%s has an output schema", tool.Name)
	}
	return tool.Name
}
