package listen_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
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
	"parley/listen"
	"parley/mcpserver"
	"parley/provider/openai"
	"parley/store/sqlite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// net/http lets a refused request's connection linger for half a second.
		goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// testBundle is a whole parley behind a listener.
type testBundle struct {
	up     *fakeai.Server
	store  *sqlite.DB
	engine *engine.Engine
	server *mcp.Server
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	b := &testBundle{up: fakeai.Start()}
	t.Cleanup(b.up.Close)
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	models, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	b.store = store
	b.engine = engine.New(engine.Config{
		Store: store, Catalogue: models, Plans: map[string]parley.PlanFunc{"chat": chat.New},
		Providers: []parley.Provider{openai.New(openai.Config{
			BaseURL: b.up.OpenAI(), Key: "k", HTTPClient: &http.Client{Transport: transport},
		})},
	})
	t.Cleanup(b.engine.Close)
	b.server = mcpserver.New(mcpserver.Config{
		Engine: b.engine, Store: store, Principal: "local:test", Version: mcpserver.Version{Version: "1"},
	})
	return b
}

// deadline is for what should happen at once, on a machine that may be busy.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func wait(t *testing.T, what string, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-deadline(t).Done():
		t.Fatalf("%s did not happen", what)
	}
}

// peer is the client's end of a connection by lines.
type peer struct {
	t    *testing.T
	to   *io.PipeWriter
	out  *io.PipeReader
	from *bufio.Reader
	// ended is closed when the server is done with the connection.
	ended chan struct{}
}

func (b *testBundle) lines(t *testing.T, grace time.Duration) *peer {
	t.Helper()
	serverIn, to := io.Pipe()
	from, serverOut := io.Pipe()
	p := &peer{t, to, from, bufio.NewReader(from), make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = b.server.Run(context.WithoutCancel(t.Context()), &listen.Lines{Reader: serverIn, Writer: serverOut, Grace: grace})
		_ = serverOut.Close()
	}()
	t.Cleanup(func() {
		_ = to.Close()
		_ = from.Close()
		wait(t, "the end of the connection", p.ended)
	})
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.to, line); err != nil {
		p.t.Fatal(err)
	}
}

// response is what a test wants to know of one.
type response struct {
	ID     any             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (r response) code() int {
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

func (p *peer) read() response {
	p.t.Helper()
	line, err := p.from.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var r response
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		p.t.Fatalf("got %s: %v", line, err)
	}
	return r
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"
)

func (p *peer) initialize() *peer {
	p.t.Helper()
	p.send(initialize)
	if r := p.read(); r.Error != nil {
		p.t.Fatalf("got %+v", r)
	}
	return p
}

func (p *peer) ping() {
	p.t.Helper()
	p.send(ping)
	if r := p.read(); r.ID != "ping" || r.Error != nil {
		p.t.Errorf("ping: got %+v", r)
	}
}

// ask is a call of chat, as a line without its end.
func ask(id, prompt string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"` +
		prompt + `","model":"gpt-5-mini"}}}`
}

func said(r response, words string) bool { return strings.Contains(string(r.Result), words) }
