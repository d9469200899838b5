//go:generate go test . -run ^(TestToolSnapshot|TestTranscripts)$ -update

// Package mcpserver is parley as MCP clients see it: tools as data, answers
// shaped for the client that asked, progress while it waits.
package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
	"parley/engine"
	"parley/nearest"
)

// Config wires a server. Engine and Store are required, unless there is Trouble.
type Config struct {
	Engine *engine.Engine
	Store  parley.Store
	// Models lists what can answer and what cannot, for listmodels; nil for an
	// empty list. What it returns is not changed.
	Models func() []ProviderModels
	// Version is what `parley version` says.
	Version Version
	// Principal is who the callers of this server are.
	Principal string
	// Project is the project that the server was started in; empty for none.
	Project string
	// Block overrides how long a call may keep its client waiting, MaxChars how
	// long an answer may be, for all clients; zero leaves it to the table.
	Block    time.Duration
	MaxChars int
	// Structured is always, never or auto (the default): whether answers carry
	// structured content beside the text.
	Structured string
	// ProgressEvery is the longest pause between two progress notifications (2 s).
	ProgressEvery time.Duration
	// StampDate puts the date in front of each question.
	StampDate bool
	// Trouble is why nothing can be asked or read, such as a store that cannot be
	// opened. Tools are listed all the same, and those that need it say so.
	Trouble *parley.Error
	// Disabled tools are not offered.
	Disabled []string
	Clock    parley.Clock
	Log      *slog.Logger
}

// Version identifies the program.
type Version struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit,omitempty"`
	Go        string   `json:"go"`
	Protocols []string `json:"protocols"`
}

// ProviderModels is one provider and what it offers.
type ProviderModels struct {
	Provider string `json:"provider"`
	// Available providers can answer now; for the others Missing says what to do.
	Available bool         `json:"available"`
	Missing   string       `json:"missing,omitempty"`
	Default   string       `json:"default,omitempty"`
	Models    []ModelEntry `json:"models,omitempty"`
}

// ModelEntry is a model as lists show it.
type ModelEntry struct {
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases,omitempty"`
	Context   int      `json:"context_tokens,omitempty"`
	MaxOutput int      `json:"max_output_tokens,omitempty"`
	Efforts   []string `json:"reasoning_efforts,omitempty"`
	Images    bool     `json:"images,omitempty"`
	WebSearch bool     `json:"web_search,omitempty"`
	// InputUSD and OutputUSD are dollars per million tokens; nil if unknown.
	InputUSD  *float64 `json:"input_usd_per_million,omitempty"`
	OutputUSD *float64 `json:"output_usd_per_million,omitempty"`
}

const instructions = "parley asks other models for you and remembers the conversation. " +
	"Every answer ends with a continuation_id: pass it to go on with the same thread, from any tool, model or client. " +
	"Long work: async true, then check_status."

// server holds what the tools need. It has no state of its own but who is
// waiting for what right now.
type server struct {
	cfg     Config
	tools   []tool
	cancels cancels
}

// New makes the MCP server. It may serve any number of connections.
func New(cfg Config) *mcp.Server {
	if cfg.Clock == nil {
		cfg.Clock = engine.WallClock{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Models == nil {
		cfg.Models = func() []ProviderModels { return nil }
	}
	if cfg.ProgressEvery <= 0 {
		cfg.ProgressEvery = 2 * time.Second
	}
	s := &server{cfg: cfg, cancels: cancels{calls: make(map[callKey]chan string)}}
	s.tools = s.enabled()
	m := mcp.NewServer(&mcp.Implementation{Name: "parley", Title: "parley", Version: cfg.Version.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       cfg.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.tools {
		m.AddTool(t.published(), s.handler(t))
	}
	m.AddReceivingMiddleware(s.cancels.listen, s.findTool)
	return m
}

func (s *server) enabled() []tool {
	var on []tool
	for _, t := range toolbox(s) {
		off := false
		for _, name := range s.cfg.Disabled {
			off = off || strings.EqualFold(name, t.name)
		}
		if !off || t.essential {
			on = append(on, t)
		}
	}
	return on
}

// findTool drops the suffix that one peer's clients append to tool names, and
// answers unknown names with the nearest known one.
func (s *server) findTool(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || method != "tools/call" {
			return next(ctx, method, req)
		}
		name := canonical(call.Params.Name)
		names := make([]string, len(s.tools))
		for i, t := range s.tools {
			names[i] = t.name
			if t.name == name {
				call.Params.Name = name
				return next(ctx, method, req)
			}
		}
		hint := "The tools are " + strings.Join(names, ", ") + "."
		if near := nearest.Names(name, names, 1); len(near) > 0 {
			hint = "Did you mean " + near[0] + "?"
		}
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidParams,
			Message: fmt.Sprintf("there is no tool %q. %s", name[:min(len(name), 64)], hint),
		}
	}
}

func canonical(name string) string {
	for _, suffix := range []string{"_EXAI-WS", "-EXAI-WS", "_EXAI_WS", "-EXAI_WS"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
