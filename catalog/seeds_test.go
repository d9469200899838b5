package catalog_test

import "testing"

// seedNames are the model names and aliases that the documents parley grew from
// promise, by provider. Vendors' words are tested with the vendors.
var seedNames = map[string][]string{
	"openai": {
		"gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "o3", "o3-pro", "o4-mini", "gpt-4.1", "o3-mini", "gpt-4o",
		"gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.4-pro",
		"gpt5", "gpt 5", "sol", "terra", "luna", "gpt5.4", "gpt5-mini", "gpt-5mini", "gpt-5-mini-2025-08-07", "gpt-5-nano-2025-08-07",
		"o3-2025-01-31", "o3-pro-2025-06-10", "o3pro", "o4mini", "o4", "o4-mini-2025-01-30", "gpt-4.1-2025-04-14", "gpt4.1", "gpt-4.1-latest",
		"o3-deep-research", "o3-deep-research-2025-06-26", "o3-research", "deep-research-o3",
		"o4-mini-deep-research", "o4-mini-deep-research-2025-06-26", "o4-research", "deep-research-o4-mini", "o4-deep-research",
	},
	"gemini": {
		"gemini-3-pro-preview", "pro", "gemini-2.5-pro", "pro 2.5", "gemini-2.5-flash", "flash", "gemini-2.0-flash", "flash2",
		"gemini-2.5-flash-lite", "flash-lite", "gemini-3.1-pro-preview", "gemini-3", "3-pro", "gemini-pro", "gemini-3.5-flash",
		"gemini-3.8-flash", "3.8-flash", "gemini-flash", "gemini-2.5-flash-preview-09-2025", "gemini:flash", "gemini:pro",
	},
	"anthropic": {
		"claude-opus-4-5-20250220", "opus-4.5", "opus", "claude-opus-4-1-20250805", "opus-4.1", "opus-4",
		"claude-sonnet-4-5-20250929", "sonnet-4.5", "sonnet", "claude-sonnet-4-20250514", "sonnet-4", "claude-sonnet-4",
		"claude-haiku-4-5-20251001", "haiku-4.5", "haiku", "claude-fable-5", "fable", "fable-5", "claude-opus-5",
		"claude-opus-4-8", "opus-4.8", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5", "claude-sonnet-4-6", "claude:opus",
	},
	"xai":      {"grok-4-0709", "grok-4", "grok-code-fast-1", "grok-code-fast", "grok-4.5", "grok-4.5-latest", "grok-3", "grok-3-fast", "grok-beta"},
	"deepseek": {"deepseek-v3", "deepseek-chat", "deepseek-coder-v2.5", "deepseek-coder", "deepseek-v4-pro", "deepseek-v4-flash", "deepseek-flash"},
	"mistral": {
		"magistral-medium-2506", "magistral", "magistral-medium", "magistral-small-2506", "magistral-small",
		"mistral-medium-2505", "mistral-medium", "mistral-medium-3-5", "mistral-small", "mistral-large-2512", "mistral-large",
	},
	"moonshot": {"kimi-k2-0905", "kimi-k2-0905-preview", "kimi-k2-0711-preview", "kimi-latest", "kimi-thinking-preview", "kimi-k2", "moonshot-v1-128k"},
	"zai":      {"glm-4.5", "glm-4.5-flash", "glm-4.5-air", "glm-4.6", "glm-5.2"},
	"openrouter": {
		"kimi/k2", "k2", "kimi-k2", "qwen/qwen-2.5-coder-32b-instruct", "qwen-coder", "qwen/qwq-32b-preview", "qwen-thinking", "qwq",
		"z-ai/glm-5.2", "glm-5.2", "qwen/qwen3.7-max", "moonshotai/kimi-k2.6", "openrouter/auto", "auto-router",
	},
	"cli":  {"codex"},
	"demo": {"demo-fast", "demo-deep", "demo-slow"},
}

// TestSeedNames: every name resolves, or names its successor.
func TestSeedNames(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for provider, names := range seedNames {
		for _, name := range names {
			m, ok := c.Lookup(provider, name)
			if !ok {
				t.Errorf("%s does not know %q", provider, name)
				continue
			}
			if m.Successor == "" {
				continue
			}
			if next, ok := c.Lookup(provider, m.Successor); !ok || next.Successor != "" {
				t.Errorf("%s: the successor of %q is %q, which is not served", provider, name, m.Successor)
			}
		}
	}
}
