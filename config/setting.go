package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one thing that can be set, by its name in the file, in the
// environment, or both.
type Setting struct {
	// Key is the dotted name in parley.toml; empty if only the environment sets it.
	Key string
	// Env are the variables that set it; the first that is set wins.
	Env []string
	// About says what it does and what the default is.
	About string
	// Project says that a project's own parley.toml may set it.
	Project bool
	set     func(*Config, string) error
}

// Settings lists everything that can be set; the documents are made from it.
func Settings() []Setting {
	return []Setting{
		{Env: []string{"PARLEY_HOME"}, About: "where state lives; default the platform's data directory", set: text(func(c *Config) *string { return &c.Home })},
		{Key: "default_model", Env: []string{"DEFAULT_MODEL"}, Project: true, About: "answers new threads that name no model; default auto", set: text(func(c *Config) *string { return &c.DefaultModel })},
		{Key: "openai.key", Env: []string{"OPENAI_API_KEY"}, About: "key of OpenAI or of a gateway", set: text(func(c *Config) *string { return &c.OpenAI.Key })},
		{Key: "openai.base_url", Env: []string{"OPENAI_BASE_URL"}, About: "another endpoint; default OpenAI's own", set: address(func(c *Config) *string { return &c.OpenAI.BaseURL })},
		{Key: "openai.wire", Env: []string{"OPENAI_WIRE"}, About: "responses (default), or chat for gateways that lack it", set: words(func(c *Config) *string { return &c.OpenAI.Wire }, "responses", "chat")},
		{Key: "anthropic.key", Env: []string{"ANTHROPIC_API_KEY"}, About: "key of Anthropic", set: text(func(c *Config) *string { return &c.Anthropic.Key })},
		{Key: "anthropic.base_url", Env: []string{"ANTHROPIC_BASE_URL"}, About: "another endpoint; default Anthropic's own", set: address(func(c *Config) *string { return &c.Anthropic.BaseURL })},
		{Key: "gemini.key", Env: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, About: "key of Google's Gemini API", set: text(func(c *Config) *string { return &c.Gemini.Key })},
		{Key: "gemini.base_url", Env: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, About: "another endpoint; default Google's own", set: address(func(c *Config) *string { return &c.Gemini.BaseURL })},
		{Key: "custom.url", Env: []string{"CUSTOM_API_URL"}, About: "a server with OpenAI's Chat Completions: Ollama, vLLM, LM Studio, a gateway", set: address(func(c *Config) *string { return &c.Custom.URL })},
		{Key: "custom.key", Env: []string{"CUSTOM_API_KEY"}, About: "its key; may be empty", set: text(func(c *Config) *string { return &c.Custom.Key })},
		{Key: "custom.model", Env: []string{"CUSTOM_MODEL_NAME"}, About: "its default model", set: text(func(c *Config) *string { return &c.Custom.Model })},
		{Key: "openai.allowed_models", Env: []string{"OPENAI_ALLOWED_MODELS"}, About: "the only models of openai that may be asked, by name or alias; default all", set: allow("openai")},
		{Key: "anthropic.allowed_models", Env: []string{"ANTHROPIC_ALLOWED_MODELS"}, About: "the same for anthropic", set: allow("anthropic")},
		{Key: "gemini.allowed_models", Env: []string{"GEMINI_ALLOWED_MODELS", "GOOGLE_ALLOWED_MODELS"}, About: "the same for gemini", set: allow("gemini")},
		{Key: "custom.allowed_models", Env: []string{"CUSTOM_ALLOWED_MODELS"}, About: "the same for custom", set: allow("custom")},
		{Key: "durability", Env: []string{"PARLEY_DURABILITY"}, About: "normal (default): a crash loses nothing; full: a power cut neither", set: words(func(c *Config) *string { return &c.Durability }, "normal", "full")},
		{Key: "log_level", Env: []string{"LOG_LEVEL"}, About: "debug, info (default), warn or error; for the file under logs", set: setLevel},
		{Key: "structured", Env: []string{"PARLEY_STRUCTURED"}, About: "structured answers beside the text: auto (default, by client), always, never", set: words(func(c *Config) *string { return &c.Structured }, "auto", "always", "never")},
		{Key: "progress_interval", Env: []string{"PARLEY_PROGRESS_INTERVAL"}, About: "pause between progress notifications; default 2s", set: duration(func(c *Config) *time.Duration { return &c.ProgressEvery }, time.Second)},
		{Key: "max_output_tokens", Env: []string{"MAX_MCP_OUTPUT_TOKENS"}, About: "how long an answer may be before it is cut; default by client", set: setMaxOutput},
		{Key: "request_timeout_ms", Env: []string{"REQUEST_TIMEOUT_MS"}, About: "how long a call may keep its client waiting; default by client", set: duration(func(c *Config) *time.Duration { return &c.Block }, time.Millisecond)},
		{Key: "thread_timeout_hours", Env: []string{"CONVERSATION_TIMEOUT_HOURS"}, About: "forget threads idle for longer; default never", set: duration(func(c *Config) *time.Duration { return &c.ThreadIdle }, time.Hour)},
		{Key: "max_turns", Env: []string{"MAX_CONVERSATION_TURNS"}, About: "refuse to continue longer threads; default no limit", set: count(func(c *Config) *int { return &c.MaxTurns }, 0, 1<<20)},
		{Key: "stamp_date", Env: []string{"INJECT_CURRENT_DATE"}, About: "put the date in front of each question; default false", set: flag(func(c *Config) *bool { return &c.StampDate })},
		{Key: "disabled_tools", Env: []string{"DISABLED_TOOLS"}, Project: true, About: "tools not to offer, separated by commas", set: list(func(c *Config) *[]string { return &c.DisabledTools })},
		{Env: []string{"MCP_TRANSPORT"}, About: "stdio (default) or http, for serve without flags", set: words(func(c *Config) *string { return &c.Transport }, "stdio", "http")},
		{Env: []string{"HTTP_PORT"}, About: "where http listens on 127.0.0.1; default 3157", set: count(func(c *Config) *int { return &c.HTTPPort }, 1, 65535)},
		{Env: []string{"PARLEY_CONFIG"}, About: "another configuration file", set: func(*Config, string) error { return nil }},
		{Env: []string{"CLIENT_CWD"}, About: "the directory the client works in, where it is not the server's own", set: func(*Config, string) error { return nil }},
	}
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func words(field func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("it cannot be %q; it is one of %s", v, strings.Join(allowed, ", "))
		}
		*field(c) = v
		return nil
	}
}

func address(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("it is not an http or https address") // which may be a key in the wrong place: not shown
		}
		*field(c) = v
		return nil
	}
}

// duration takes 1.5s, 300ms, 2m, or a bare number of units.
func duration(field func(*Config) *time.Duration, unit time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if n, numErr := strconv.ParseFloat(v, 64); numErr == nil {
			d, err = time.Duration(n*float64(unit)), nil
		}
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a time greater than zero, such as 90s or 2m", v)
		}
		*field(c) = d
		return nil
	}
}

func count(field func(*Config) *int, least, most int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a whole number from %d to %d", v, least, most)
		}
		*field(c) = n
		return nil
	}
}

func flag(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
		*field(c) = b
		return nil
	}
}

func list(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	}
}

func allow(provider string) func(*Config, string) error {
	return func(c *Config, v string) error {
		names := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		c.Allowed = maps.Clone(c.Allowed)
		if c.Allowed == nil {
			c.Allowed = map[string][]string{}
		}
		c.Allowed[provider] = names
		return nil
	}
}

func setLevel(c *Config, v string) error {
	if err := c.LogLevel.UnmarshalText([]byte(v)); err != nil {
		return fmt.Errorf("it cannot be %q; it is one of debug, info, warn, error", v)
	}
	return nil
}

// charsPerToken turns the peers' limit in tokens into ours in characters.
const charsPerToken = 4

func setMaxOutput(c *Config, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 500 {
		return fmt.Errorf("%q is not a number of tokens of at least 500", v)
	}
	c.MaxChars = n * charsPerToken
	return nil
}
