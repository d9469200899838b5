package catalog_test

import (
	"testing"

	"parley"
	"parley/catalog"
)

// seed is a model with the names that the documents parley grew from have for
// it, and the model to ask instead if it is no longer served.
type seed struct {
	name, successor string
	aliases         []string
}

// seeds are all of them, by provider: those of Converse (and of the list that
// its program had), Zen, and EX-AI. Where they disagree, as about "flash", the
// contract decides.
var seeds = []struct {
	provider string
	models   []seed
}{
	{"openai", []seed{
		{"gpt-5.1", "", nil},
		{"gpt-5", "", []string{"gpt5", "gpt 5"}},
		{"gpt-5-mini", "", []string{"gpt5-mini", "gpt-5mini", "gpt 5 mini"}},
		{"gpt-5-nano", "", []string{"gpt5-nano", "gpt-5nano", "gpt 5 nano"}},
		{"gpt-5-pro", "", []string{"gpt5-pro", "gpt-5pro", "gpt 5 pro", "gpt-5 pro"}},
		{"o3", "", []string{"o3-2025-01-31"}},
		{"o3-pro", "", []string{"o3pro", "o3 pro"}},
		{"o4-mini", "", []string{"o4mini", "o4", "o4-mini-2025-01-30", "o4 mini"}},
		{"gpt-4.1", "", []string{"gpt4.1", "gpt-4.1-latest", "gpt 4.1"}},
		{"o3-mini", "", nil},
		{"gpt-4o", "", nil},
		{"gpt-5.6-sol", "", []string{"sol", "gpt-5.6", "gpt5.6", "gpt 5.6", "gpt-5.6sol", "gpt 5.6 sol"}},
		{"gpt-5.6-terra", "", []string{"terra", "gpt5.6-terra", "gpt-5.6terra", "gpt 5.6 terra"}},
		{"gpt-5.6-luna", "", []string{"luna", "gpt5.6-luna", "gpt-5.6luna", "gpt 5.6 luna"}},
		{"gpt-5.4", "", []string{"gpt5.4", "gpt 5.4"}},
		{"gpt-5.4-mini", "", []string{"gpt5.4-mini", "gpt-5.4mini", "gpt 5.4 mini", "gpt-5.4-mini-2025-08-07"}},
		{"gpt-5.4-nano", "", []string{"gpt5.4-nano", "gpt-5.4nano", "gpt 5.4 nano", "gpt-5.4-nano-2025-08-07"}},
		{"gpt-5.4-pro", "", nil},
		{"gpt-5-mini-2025-08-07", "", nil},
		{"gpt-5-nano-2025-08-07", "", nil},
		{"o3-pro-2025-06-10", "", nil},
		{"gpt-4.1-2025-04-14", "", nil},
		{"o3-deep-research", "", []string{"o3-research", "deep-research-o3", "o3 deep research"}},
		{"o3-deep-research-2025-06-26", "", nil},
		{"o4-mini-deep-research", "", []string{"o4-research", "deep-research-o4-mini", "o4-deep-research", "o4-mini-research", "o4 mini deep research"}},
		{"o4-mini-deep-research-2025-06-26", "", nil},
	}},
	{"gemini", []seed{
		{"gemini-3-pro-preview", "gemini-3.1-pro-preview", []string{"gemini-3", "3-pro", "gemini3", "gemini-3-pro"}},
		{"gemini-3.1-pro-preview", "", []string{"pro", "gemini-pro", "gemini:pro", "gemini-3.1", "gemini3.1", "gemini-3.1-pro", "3.1-pro", "gemini pro"}},
		{"gemini-2.5-pro", "", []string{"pro 2.5", "gemini pro 2.5", "gemini-2.5-pro-latest"}},
		{"gemini-2.5-flash", "", []string{"gemini-2.5-flash-preview-09-2025", "flash2.5", "gemini-flash-2.5", "flash 2.5", "gemini flash 2.5", "gemini-2.5-flash-latest"}},
		{"gemini-3.8-flash", "", []string{"flash", "3.8-flash", "gemini-flash", "gemini:flash", "gemini-3.8", "gemini3.8", "gemini-3.8-flash-latest", "flash-3.8", "flash3.8", "gemini-flash-3.8", "gemini flash 3.8"}},
		{"gemini-2.0-flash", "gemini-2.5-flash", []string{"flash2"}},
		{"gemini-2.5-flash-lite", "", []string{"flash-lite", "flashlite2.5", "flash lite", "gemini-flash-lite", "gemini flash lite", "gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite-latest"}},
		{"gemini-3.5-flash", "", []string{"gemini-3.5", "gemini3.5", "gemini-3.5-flash-latest", "flash-3.5", "flash3.5", "gemini-flash-3.5", "gemini flash 3.5", "3.5-flash"}},
	}},
	{"anthropic", []seed{
		{"claude-opus-4-5-20251101", "", []string{"claude-opus-4-5-20250220", "opus-4.5", "claude-opus-4-5", "claude-4.5-opus", "claude-4-5-opus", "opus-4-5", "opus4.5", "opus4-5", "claude-opus-4.5"}},
		{"claude-opus-5", "", []string{"opus", "claude:opus", "claude-5-opus", "opus-5", "opus5", "claude-opus-5.0", "claude-opus"}},
		{"claude-opus-4-1-20250805", "", []string{"opus-4.1", "opus-4", "claude-opus-4-1", "claude-4.1-opus", "claude-4-1-opus", "opus-4-1", "claude-4-opus", "opus4", "opus4.1", "claude-opus-4", "claude-opus-4.1"}},
		{"claude-sonnet-4-5-20250929", "", []string{"sonnet-4.5", "claude-4.5-sonnet", "claude-sonnet-4.5", "sonnet4.5", "claude-sonnet-4-5"}},
		{"claude-sonnet-5", "", []string{"sonnet", "claude-sonnet"}},
		{"claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", []string{"sonnet-4", "claude-sonnet-4"}},
		{"claude-haiku-4-5-20251001", "", []string{"haiku-4.5", "haiku", "claude-haiku-4-5", "claude-4.5-haiku", "claude-4-5-haiku", "haiku-4-5", "claude-haiku-4.5", "haiku4.5", "claude-haiku-4", "claude-haiku"}},
		{"claude-fable-5", "", []string{"fable-5", "claude-5-fable", "fable5"}},
		{"claude-fable-5-1", "", []string{"fable", "claude-fable"}},
		{"claude-opus-4-8", "", []string{"opus-4.8", "claude-4.8-opus", "claude-4-8-opus", "opus-4-8", "opus4.8", "opus4-8", "claude-opus-4.8"}},
		{"claude-opus-4-7", "", []string{"claude-4.7-opus", "claude-4-7-opus", "opus-4.7", "opus-4-7", "opus4.7", "opus4-7", "claude-opus-4.7"}},
		{"claude-opus-4-6", "", []string{"claude-4.6-opus", "claude-4-6-opus", "opus-4.6", "opus-4-6", "opus4.6", "opus4-6", "claude-opus-4.6"}},
		{"claude-sonnet-4-6", "", []string{"claude-4.6-sonnet", "claude-4-6-sonnet", "sonnet-4.6", "sonnet-4-6", "sonnet4.6", "sonnet4-6", "claude-sonnet-4.6"}},
	}},
	{"xai", []seed{
		{"grok-4-0709", "grok-4.5", []string{"grok-4"}},
		{"grok-code-fast-1", "grok-4.5", []string{"grok-code-fast"}},
		{"grok-4.5", "", []string{"grok-4.5-latest", "grok-build-latest"}},
		{"grok-3", "grok-4.5", []string{"grok-beta"}},
		{"grok-3-fast", "grok-4.3", nil},
	}},
	{"deepseek", []seed{
		{"deepseek-v3", "deepseek-flash", []string{"deepseek-chat"}},
		{"deepseek-coder-v2.5", "deepseek-flash", []string{"deepseek-coder"}},
		{"deepseek-v4-pro", "", []string{"deepseek-pro"}},
		{"deepseek-v4-flash", "", nil},
		{"deepseek-flash", "", nil},
	}},
	{"mistral", []seed{
		{"magistral-medium-2506", "magistral-medium-latest", nil},
		{"magistral-medium-latest", "", []string{"magistral", "magistral-medium"}},
		{"magistral-small-2506", "mistral-small-2603", []string{"magistral-small"}},
		{"mistral-medium-2505", "", nil},
		{"mistral-medium-3-5", "", []string{"mistral-medium", "mistral-medium-latest", "mistral-medium-3.5"}},
		{"mistral-small-2603", "", []string{"mistral-small", "mistral-small-latest"}},
		{"mistral-large-2512", "", []string{"mistral-large", "mistral-large-latest"}},
	}},
	{"moonshot", []seed{
		{"kimi-k2-0905-preview", "kimi-k2.6", []string{"kimi-k2-0905", "kimi-k2"}},
		{"kimi-k2-0711-preview", "kimi-k2.6", nil},
		{"kimi-latest", "kimi-k2.6", nil},
		{"kimi-thinking-preview", "kimi-k3.1-pro", nil},
		{"moonshot-v1-128k", "", nil},
	}},
	{"zai", []seed{
		{"glm-4.5", "", nil},
		{"glm-4.5-flash", "", nil},
		{"glm-4.5-air", "", nil},
		{"glm-4.6", "", nil},
		{"glm-5.2", "", nil},
	}},
	{"openrouter", []seed{
		{"moonshotai/kimi-k2", "", []string{"kimi/k2", "k2", "kimi-k2"}},
		{"qwen/qwen-2.5-coder-32b-instruct", "", []string{"qwen-coder"}},
		{"qwen/qwq-32b-preview", "", []string{"qwen-thinking", "qwq"}},
		{"z-ai/glm-5.2", "", []string{"glm-5.2", "glm5.2"}},
		{"qwen/qwen3.7-max", "", []string{"qwen3.7-max"}},
		{"moonshotai/kimi-k2.6", "", []string{"kimi-k2.6"}},
		{"openrouter/auto", "", []string{"auto-router", "openrouter-auto"}},
		{"deepseek/deepseek-v4-pro", "", nil},
		{"deepseek/deepseek-v4-flash", "", nil},
		{"qwen/qwen3.7-plus", "", []string{"qwen3.7-plus"}},
		{"moonshotai/kimi-k2.7-code", "", []string{"kimi-k2.7-code"}},
		{"anthropic/claude-opus-5", "", []string{"opus"}},
		{"anthropic/claude-sonnet-5", "", []string{"sonnet"}},
		{"google/gemini-2.5-flash", "", nil},
	}},
	{"cli", []seed{
		{"codex", "", nil},
	}},
	{"demo", []seed{
		{"demo-fast", "", nil},
		{"demo-deep", "", nil},
		{"demo-slow", "", nil},
	}},
}

// vendorWords are bare words, and the model that each means.
var vendorWords = map[string]string{
	"claude": "anthropic/claude-sonnet-5", "gemini": "gemini/gemini-3.1-pro-preview", "gpt": "openai/gpt-5.6-terra",
	"grok": "xai/grok-4.3", "kimi": "moonshot/kimi-k2.6", "glm": "zai/glm-5.3",
	"deepseek": "deepseek/deepseek-v4-pro", "mistral": "mistral/mistral-medium-3-5",
}

// TestSeeds: every name resolves, or names its successor.
func TestSeeds(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, p := range seeds {
		for _, s := range p.models {
			checkSeed(t, c, p.provider, s)
		}
	}
	for word, want := range vendorWords {
		provider, _ := c.Vendor(word)
		if m, _ := c.Default(provider, parley.ClassBalanced); m.String() != want {
			t.Errorf("%s means %s, want %s", word, m, want)
		}
	}
}

func checkSeed(t *testing.T, c *catalog.Catalog, provider string, want seed) {
	t.Helper()
	for _, name := range append([]string{want.name}, want.aliases...) {
		m, ok := c.Lookup(provider, name)
		if !ok || m.Name != want.name || m.Successor != want.successor {
			t.Errorf("%s: %q means %q, then %q; want %q, then %q", provider, name, m.Name, m.Successor, want.name, want.successor)
		}
	}
	if want.successor == "" {
		return
	}
	if next, ok := c.Lookup(provider, want.successor); !ok || next.Successor != "" {
		t.Errorf("%s: the successor of %q is %q, which is not served", provider, want.name, want.successor)
	}
}
