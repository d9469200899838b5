package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"parley"
	"parley/catalog"
	"parley/chat"
	"parley/config"
	"parley/engine"
	"parley/mcpserver"
	"parley/provider/anthropic"
	"parley/provider/demo"
	"parley/provider/gemini"
	"parley/provider/openai"
	"parley/store/sqlite"
	"parley/telemetry"
)

// app is everything wired together. This is the only place where the rooms meet.
type app struct {
	cfg       config.Config
	log       *telemetry.Log
	store     *sqlite.DB
	catalogue *catalog.Catalog
	providers []parley.Provider
	engine    *engine.Engine
	// demoOn says that simulated models answer.
	demoOn bool
	// trouble is set instead of store and engine if the store cannot be used.
	trouble *parley.Error
}

// load reads the configuration.
func load(g *global) (config.Config, error) {
	if g.demo != "on" && g.demo != "off" && g.demo != "auto" {
		return config.Config{}, wrongUsage("--demo cannot be %q; it is on, off or auto", g.demo)
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // a deleted directory: no project
	}
	return config.Load(config.Source{Env: os.LookupEnv, EnvFile: g.envFile, Dir: dir})
}

// openApp wires the program. stays says that the process means to live for a
// while, and so may take up runs that others left.
func openApp(ctx context.Context, g *global, stays bool) (*app, error) {
	cfg, err := load(g)
	if err != nil {
		return nil, err
	}
	a := &app{cfg: cfg}
	if a.catalogue, err = catalog.Embedded(); err != nil {
		return nil, fmt.Errorf("reading the embedded catalogue: %w", err)
	}
	a.providers, a.demoOn = providers(cfg, g.demo)
	if a.store, err = sqlite.Open(ctx, cfg.Home, sqlite.Options{Durability: cfg.Durability}); err != nil {
		return nil, err
	}
	a.log = telemetry.Open(telemetry.Options{Home: cfg.Home, Level: cfg.LogLevel, Secrets: cfg.Secrets(), Quiet: !stays})
	a.engine = engine.New(engine.Config{
		Store: a.store, Catalogue: a.catalogue, Providers: a.providers,
		Plans:        map[string]parley.PlanFunc{"chat": chat.New},
		DefaultModel: cfg.DefaultModel, ProviderModels: map[string]string{"custom": cfg.Custom.Model},
		Keys: keys(), Allowed: cfg.Allowed, Adopt: stays, Log: a.log.Logger,
		Limits: engine.Limits{KeepThreads: cfg.ThreadIdle, MaxTurns: cfg.MaxTurns},
	})
	return a, nil
}

// withApp opens the app for the length of a command.
func withApp(g *global, stays bool, do func(cmd *cobra.Command, a *app, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a, err := openApp(cmd.Context(), g, stays)
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd, a, args)
	}
}

// openServer is openApp for a server, whose users do not see its stderr: if the
// store cannot be used it starts all the same, and its tools say why.
func openServer(ctx context.Context, g *global) (*app, error) {
	a, err := openApp(ctx, g, true)
	if trouble := parley.AsError(err); trouble != nil && trouble.Code == parley.CodeStoreUnavailable {
		cfg, err := load(g)
		if err != nil {
			return nil, err
		}
		a = &app{cfg: cfg, trouble: trouble, log: telemetry.Open(telemetry.Options{Level: cfg.LogLevel, Secrets: cfg.Secrets()})}
		a.providers, a.demoOn = providers(cfg, g.demo)
		a.catalogue, err = catalog.Embedded()
		return a, err
	}
	return a, err
}

// Close ends the app in order: runs first, then what they are written to.
func (a *app) Close() {
	if a.trouble != nil {
		return
	}
	a.engine.Close()
	if err := a.store.Close(); err != nil {
		a.log.Warn("closing the store", "error", err)
	}
	a.log.Close()
}

// providers makes those that are configured, best first.
func providers(cfg config.Config, demoMode string) (list []parley.Provider, demoOn bool) {
	if cfg.OpenAI.Key != "" {
		list = append(list, openai.New(openai.Config{
			ID: "openai", BaseURL: cfg.OpenAI.BaseURL, Key: cfg.OpenAI.Key, Wire: cfg.OpenAI.Wire,
		}))
	}
	if cfg.Anthropic.Key != "" {
		list = append(list, anthropic.New(anthropic.Config{BaseURL: cfg.Anthropic.BaseURL, Key: cfg.Anthropic.Key}))
	}
	if cfg.Gemini.Key != "" {
		list = append(list, gemini.New(gemini.Config{BaseURL: cfg.Gemini.BaseURL, Key: cfg.Gemini.Key}))
	}
	if cfg.Custom.URL != "" {
		list = append(list, openai.New(openai.Config{ID: "custom", BaseURL: cfg.Custom.URL, Key: cfg.Custom.Key, Wire: "chat"}))
	}
	demoOn = demoMode == "on" || demoMode == "auto" && len(list) == 0
	if demoOn {
		list = append(list, demo.New(demo.Config{}))
	}
	return list, demoOn
}

func or(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}

// keys says what to set for each provider of this version.
func keys() map[string]string {
	return map[string]string{
		openai.ID: "OPENAI_API_KEY", anthropic.ID: "ANTHROPIC_API_KEY", gemini.ID: "GEMINI_API_KEY",
		"custom": "CUSTOM_API_URL", demo.ID: "--demo on",
	}
}

// server makes the MCP face.
func (a *app) server() *mcp.Server {
	return mcpserver.New(mcpserver.Config{
		Engine: a.engine, Store: a.store, Models: a.models, Version: thisVersion(),
		Principal: principal(), Project: a.cfg.Project, Block: a.cfg.Block, MaxChars: a.cfg.MaxChars,
		Structured: a.cfg.Structured, ProgressEvery: a.cfg.ProgressEvery, StampDate: a.cfg.StampDate,
		Disabled: a.cfg.DisabledTools, Trouble: a.trouble, Log: a.log.Logger,
	})
}

// caller is the person at the terminal.
func (a *app) caller() parley.Caller {
	return parley.Caller{Principal: principal(), Project: a.cfg.Project, Client: "terminal", Session: "terminal"}
}

// principal is the user of this machine: whoever may open the store may read it.
func principal() string {
	if u, err := user.Current(); err == nil && u.Uid != "" {
		return "local:" + u.Uid
	}
	return "local"
}

func thisVersion() mcpserver.Version {
	return mcpserver.Version{
		Version: version, Commit: commit, Go: runtime.Version(), Protocols: mcp.SupportedProtocolVersions(),
	}
}
