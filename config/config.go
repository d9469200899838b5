// Package config turns flags, environment and file into one struct.
//
// Strongest first: flag, environment, the file named by $PARLEY_CONFIG or
// parley.toml in the platform's config directory, the project's parley.toml for
// what a project may choose, built-in default.
package config

import (
	"log/slog"
	"net/url"
	"slices"
	"time"
)

// Config is everything that can be set, after all sources were read.
type Config struct {
	// Home is where state lives.
	Home string
	// File is the configuration file that was read; empty if there was none.
	File string
	// ProjectFile is the project's parley.toml that was read; empty if there was none.
	ProjectFile string
	// Project is the git top of the working directory, else that directory;
	// empty if that is / or the home.
	Project string
	// Durability is normal (a crash of the program loses nothing) or full (a
	// power cut neither). Default normal.
	Durability string
	// LogLevel of the log file. Default info.
	LogLevel slog.Level
	// DefaultModel answers new threads that name none. Default auto.
	DefaultModel string

	OpenAI    OpenAI
	Anthropic Endpoint
	Gemini    Endpoint
	Custom    Custom
	// Allowed restricts providers, by id, to these models; none means all.
	Allowed map[string][]string

	// Block is how long a call may keep its client waiting; zero leaves it to
	// the table of clients.
	Block time.Duration
	// MaxChars is how long an answer may be; zero leaves it to the table.
	MaxChars int
	// Structured is auto, always or never. Default auto.
	Structured string
	// ProgressEvery is the pause between progress notifications. Default 2 s.
	ProgressEvery time.Duration
	// ThreadIdle and MaxTurns limit threads; zero for no limit.
	ThreadIdle time.Duration
	MaxTurns   int
	// StampDate puts the date in front of each question. Default off.
	StampDate bool
	// DisabledTools are not offered.
	DisabledTools []string
	// Transport is stdio or http, for `serve` without flags. Default stdio.
	Transport string
	// HTTPPort is where http listens. Default 3157.
	HTTPPort int
}

// OpenAI is the provider openai.
type OpenAI struct {
	Key     string
	BaseURL string
	// Wire is responses or chat, for gateways that lack the Responses API.
	Wire string
}

// Endpoint is a vendor with a wire of its own.
type Endpoint struct {
	Key     string
	BaseURL string
}

// Custom is the provider custom: any server with OpenAI's Chat Completions.
type Custom struct {
	URL   string
	Key   string
	Model string
}

// Secrets are the values that must never be shown.
func (c Config) Secrets() []string {
	var s []string
	for _, v := range []string{c.OpenAI.Key, c.Anthropic.Key, c.Gemini.Key, c.Custom.Key} {
		if v != "" {
			s = append(s, v)
		}
	}
	for _, address := range []string{c.OpenAI.BaseURL, c.Anthropic.BaseURL, c.Gemini.BaseURL, c.Custom.URL} {
		s = append(s, hidden(address)...)
	}
	return s
}

// hidden are the parts of an address that may be secret: user, password, query.
func hidden(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var s []string
	if u.User != nil {
		password, _ := u.User.Password()
		s = append(s, u.User.Username(), password)
	}
	for _, values := range u.Query() {
		s = append(s, values...)
	}
	return slices.DeleteFunc(s, func(v string) bool { return v == "" })
}

func defaults() Config {
	return Config{
		Durability: "normal", LogLevel: slog.LevelInfo, Structured: "auto",
		ProgressEvery: 2 * time.Second, Transport: "stdio", HTTPPort: 3157,
		OpenAI: OpenAI{Wire: "responses"},
	}
}
