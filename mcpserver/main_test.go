package mcpserver_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"parley"
	"parley/catalog"
	"parley/chat"
	"parley/engine"
	"parley/fakeai"
	"parley/mcpserver"
	"parley/provider/openai"
	"parley/store/sqlite"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiKey must never be seen anywhere but in the upstream's Authorization header.
const apiKey = "sk-test-this-is-the-key-nobody-may-see"

const model = "openai/gpt-5-mini"

// instant is the wall clock of somebody who never has to wait.
type instant struct{ engine.WallClock }

func (instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// testBundle is a whole parley: real store, engine, provider and server, and an
// upstream that does what it is told.
type testBundle struct {
	up     *fakeai.Server
	store  *sqlite.DB
	engine *engine.Engine
	server *mcp.Server
}

type option func(*engine.Config, *mcpserver.Config)

func setup(t *testing.T, options ...option) *testBundle {
	t.Helper()
	b := &testBundle{up: fakeai.Start()}
	t.Cleanup(b.up.Close)

	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b.store = store

	models, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	ec := engine.Config{
		Store: store, Catalogue: models, Clock: instant{},
		Plans: map[string]parley.PlanFunc{"chat": chat.New},
		Providers: []parley.Provider{openai.New(openai.Config{
			BaseURL: b.up.OpenAI(), Key: apiKey, HTTPClient: &http.Client{Transport: transport},
		})},
	}
	mc := mcpserver.Config{
		Store: store, Principal: "local:test",
		Version: mcpserver.Version{Version: "1.2.3", Commit: "abc", Go: "go1.26", Protocols: mcp.SupportedProtocolVersions()},
		Models: func() []mcpserver.ProviderModels {
			return []mcpserver.ProviderModels{
				{Provider: "openai", Available: true, Default: "gpt-5-mini", Models: []mcpserver.ModelEntry{
					{Name: "gpt-5-mini", Aliases: []string{"mini"}, Context: 400_000, Images: true, Efforts: []string{"low", "high"}},
					{Name: "plain", Context: 8_000},
				}},
				{Provider: "custom", Missing: "Set CUSTOM_API_URL."},
			}
		},
	}
	for _, o := range options {
		o(&ec, &mc)
	}
	b.engine = engine.New(ec)
	t.Cleanup(b.engine.Close)
	mc.Engine = b.engine
	b.server = mcpserver.New(mc)
	return b
}

func withServer(change func(*mcpserver.Config)) option {
	return func(_ *engine.Config, c *mcpserver.Config) { change(c) }
}

// session is a client on a connection of its own.
type session struct {
	*mcp.ClientSession
	t *testing.T
}

func (b *testBundle) connect(t *testing.T, name string) *session {
	t.Helper()
	return b.connectWith(t, name, nil)
}

func (b *testBundle) connectWith(t *testing.T, name string, options *mcp.ClientOptions) *session {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	ss, err := b.server.Connect(deadline(t), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, options).Connect(deadline(t), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close(); _ = ss.Wait() })
	return &session{cs, t}
}

// deadline is for what should happen at once, on a machine that may be busy.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Short names for what the tests are full of.
type (
	fields          = map[string]any
	engineConfig    = engine.Config
	mcpserverConfig = mcpserver.Config
	mcpserverModels = mcpserver.ProviderModels
)

// reply is a tool's answer.
type reply struct {
	text       string
	structured fields
	isError    bool
}

func (r reply) head() string { return strings.SplitN(r.text, "\n", 2)[0] }

func (r reply) last() string { return r.text[strings.LastIndexByte(r.text, '\n')+1:] }

// at digs into the structured half.
func (r reply) at(path ...string) any {
	var v any = r.structured
	for _, name := range path {
		m, _ := v.(fields)
		v = m[name]
	}
	return v
}

func (r reply) str(path ...string) string { s, _ := r.at(path...).(string); return s }

func (r reply) thread() string { return r.str("continuation", "id") }

func (r reply) run() string { return r.str("metadata", "run_id") }

// call calls a tool and fails the test on a protocol error.
func (s *session) call(tool string, arguments any) reply {
	s.t.Helper()
	r, err := s.try(deadline(s.t), tool, arguments)
	if err != nil {
		s.t.Fatalf("calling %s: %v", tool, err)
	}
	return r
}

func (s *session) try(ctx context.Context, tool string, arguments any) (reply, error) {
	return s.send(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
}

func (s *session) send(ctx context.Context, params *mcp.CallToolParams) (reply, error) {
	result, err := s.CallTool(ctx, params)
	if err != nil {
		return reply{}, err
	}
	return replyOf(s.t, result), nil
}

func replyOf(t *testing.T, result *mcp.CallToolResult) reply {
	t.Helper()
	r := reply{isError: result.IsError}
	if len(result.Content) != 1 {
		t.Errorf("got %d contents, want 1", len(result.Content))
	}
	for _, c := range result.Content {
		r.text += c.(*mcp.TextContent).Text
	}
	if result.StructuredContent != nil {
		raw, err := json.Marshal(result.StructuredContent)
		if err != nil || json.Unmarshal(raw, &r.structured) != nil {
			t.Errorf("structured content %s: %v", raw, err)
		}
	}
	return r
}

// chat asks the model the bundle knows, and expects an answer.
func (s *session) chat(prompt, thread string) reply {
	s.t.Helper()
	args := fields{"prompt": prompt, "model": model}
	if thread != "" {
		args["continuation_id"] = thread
	}
	r := s.call("chat", args)
	if r.isError {
		s.t.Fatalf("chat %q failed:\n%s", prompt, r.text)
	}
	return r
}

// status asks about a run again and again until it is as wanted.
func (s *session) status(id string, wanted func(reply) bool) reply {
	s.t.Helper()
	for ctx := deadline(s.t); ctx.Err() == nil; {
		if r := s.call("check_status", fields{"continuation_id": id}); wanted(r) {
			return r
		}
	}
	s.t.Fatalf("the run %s did not become what was wanted", id)
	return reply{}
}

func (b *testBundle) await(t *testing.T, n int) []*fakeai.Request {
	t.Helper()
	all, err := b.up.Await(deadline(t), n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wait fails the test if the signal does not come.
func wait(t *testing.T, what string, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-deadline(t).Done():
		t.Fatalf("%s did not happen", what)
	}
}
