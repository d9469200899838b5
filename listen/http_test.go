package listen_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
	"parley/fakeai"
	"parley/listen"
)

type webBundle struct {
	*testBundle
	http *listen.HTTP
	base string
}

func setupHTTP(t *testing.T) *webBundle {
	t.Helper()
	b := setup(t)
	health := func() map[string]any { return map[string]any{"status": "ok", "version": "1 <b>"} }
	h, err := listen.NewHTTP(t.Context(), "127.0.0.1:0", b.server, health, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve() }()
	t.Cleanup(func() {
		b.engine.Close() // waiting calls answer
		began := time.Now()
		h.Close()
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("Close took %s", took)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &webBundle{b, h, "http://" + h.Addr()}
}

// client is an HTTP client whose connections end with the test.
func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (b *webBundle) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(deadline(t),
		&mcp.StreamableClientTransport{Endpoint: b.http.URL(), HTTPClient: client(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

// post sends a body to /mcp and returns the response with its body read.
func (b *webBundle) post(t *testing.T, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	return b.do(t, http.MethodPost, "/mcp", body, header...)
}

func (b *webBundle) do(t *testing.T, method, path string, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(deadline(t), method, b.base+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// event is the response in an event stream.
func event(t *testing.T, body string) response {
	t.Helper()
	var r response
	scanner := bufio.NewScanner(strings.NewReader(body))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok && json.Unmarshal([]byte(data), &r) == nil && r.ID != nil {
			return r
		}
	}
	t.Fatalf("no response in %q", body)
	return r
}

func TestManySessions(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	var work sync.WaitGroup
	for s := range 20 {
		cs := b.connect(t)
		for i := range 10 {
			work.Go(func() {
				prompt := fmt.Sprintf("question %d of %d", i, s)
				r, err := cs.CallTool(deadline(t), &mcp.CallToolParams{Name: "chat", Arguments: map[string]any{"prompt": prompt, "model": "gpt-5-mini"}})
				if err != nil || r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "ECHO: "+prompt+"\n") {
					t.Errorf("%s: got %+v, %v", prompt, r, err)
				}
			})
		}
	}
	work.Wait()
	if n := len(b.up.Requests()); n != 200 {
		t.Errorf("%d requests", n)
	}
}

func TestBothEras(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)

	resp, body := b.post(t, strings.NewReader(strings.SplitN(initialize, "\n", 2)[0]))
	session := resp.Header.Get("Mcp-Session-Id")
	if r := event(t, body); resp.StatusCode != http.StatusOK || session == "" || !said(r, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("got %d %s", resp.StatusCode, body)
	}
	older := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25"}
	if resp, body := b.post(t, strings.NewReader(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), older...); resp.StatusCode != http.StatusAccepted {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	_, body = b.post(t, strings.NewReader(ask("2", "older")), older...)
	if r := event(t, body); !said(r, "ECHO: older") {
		t.Errorf("got %s", body)
	}

	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"newest","version":"1"}}`
	resp, body = b.post(t, strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"newer","model":"gpt-5-mini"},`+meta+`}}`),
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "chat")
	if r := event(t, body); resp.StatusCode != http.StatusOK || !said(r, "ECHO: newer") || resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	resp, body = b.post(t, strings.NewReader(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{`+meta+`}}`),
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	if r := event(t, body); !said(r, `"check_status"`) {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	if resp, body := b.post(t, strings.NewReader(ask("5", "lost")), "Mcp-Session-Id", "nobody"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown session: got %d %s", resp.StatusCode, body)
	}
}

func TestForeignPages(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	own := "http://" + b.http.Addr()
	port := own[strings.LastIndexByte(own, ':'):]
	for name, c := range map[string]struct {
		method, path string
		header       []string
		forbidden    bool
	}{
		"NoOrigin":        {"GET", "/health", nil, false},
		"OwnOrigin":       {"GET", "/health", []string{"Origin", own}, false},
		"Localhost":       {"GET", "/health", []string{"Host", "localhost" + port}, false},
		"IPv6":            {"GET", "/health", []string{"Host", "[::1]" + port}, false},
		"ForeignPost":     {"POST", "/mcp", []string{"Origin", "https://evil.example"}, true},
		"NullOrigin":      {"POST", "/mcp", []string{"Origin", "null"}, true},
		"OtherPort":       {"POST", "/mcp", []string{"Origin", "http://127.0.0.1:1"}, true},
		"FetchSite":       {"POST", "/mcp", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"ForeignGet":      {"GET", "/mcp", []string{"Origin", "https://evil.example"}, true},
		"ForeignDelete":   {"DELETE", "/mcp", []string{"Origin", "https://evil.example"}, true},
		"ForeignHealth":   {"GET", "/health", []string{"Origin", "https://evil.example"}, true},
		"ForeignHost":     {"POST", "/mcp", []string{"Host", "evil.example"}, true},
		"ForeignHostPort": {"POST", "/mcp", []string{"Host", "evil.example" + port}, true},
		"ReboundHealth":   {"GET", "/health", []string{"Host", "evil.example" + port}, true},
		"ReboundPage":     {"GET", "/", []string{"Host", "evil.example", "Origin", "http://evil.example"}, true},
		"LooksLikeLocal":  {"GET", "/health", []string{"Host", "127.0.0.1.evil.example"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := b.do(t, c.method, c.path, strings.NewReader(ping), c.header...)
			if got := resp.StatusCode == http.StatusForbidden; got != c.forbidden {
				t.Errorf("got %d %s", resp.StatusCode, body)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("other sites are allowed to read")
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	for name, c := range map[string]struct {
		body   io.Reader
		status int
		has    string
	}{
		"NotJSON":     {strings.NewReader("hello"), http.StatusBadRequest, "-32700"},
		"Empty":       {strings.NewReader(""), http.StatusBadRequest, "-32700"},
		"HalfJSON":    {strings.NewReader(`{"jsonrpc":`), http.StatusBadRequest, "-32700"},
		"InvalidUTF8": {strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"` + "\xff" + `"}`), http.StatusBadRequest, "-32700"},
		"NotRPC":      {strings.NewReader(`{"hello":1}`), http.StatusBadRequest, ""},
		"TooLarge":    {io.LimitReader(endless{}, listen.MaxFrame+1), http.StatusRequestEntityTooLarge, "longer than"},
		"Ping":        {strings.NewReader(ping), http.StatusOK, `"result":{}`},
		"LargeEnough": {io.MultiReader(strings.NewReader(ping), io.LimitReader(endless{}, 5<<20)), http.StatusOK, `"result":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := b.post(t, c.body)
			if resp.StatusCode != c.status || !strings.Contains(body, c.has) {
				t.Errorf("got %d %.300s, want %d with %q", resp.StatusCode, body, c.status, c.has)
			}
			if c.has == "-32700" {
				var r response
				if err := json.Unmarshal([]byte(body), &r); err != nil || r.code() != parseError || resp.Header.Get("Content-Type") != "application/json" {
					t.Errorf("got %s, %v", body, err)
				}
			}
		})
	}
}

// endless is white space without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	resp, body := b.do(t, "GET", "/health", nil)
	var health map[string]any
	if err := json.Unmarshal([]byte(body), &health); err != nil || resp.StatusCode != http.StatusOK || health["status"] != "ok" ||
		resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("health: got %d %s", resp.StatusCode, body)
	}
	resp, body = b.do(t, "GET", "/", nil)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "/mcp") || !strings.Contains(body, "1 &lt;b&gt;") ||
		!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || resp.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("page: got %d %s", resp.StatusCode, body)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/nothing", http.StatusNotFound},
		{"GET", "/mcp/", http.StatusNotFound},
		{"GET", "/../etc/passwd", http.StatusNotFound},
		{"POST", "/health", http.StatusMethodNotAllowed},
		{"POST", "/", http.StatusMethodNotAllowed},
		{"PUT", "/mcp", http.StatusMethodNotAllowed},
	} {
		if resp, body := b.do(t, c.method, c.path, nil); resp.StatusCode != c.status {
			t.Errorf("%s %s: got %d %s, want %d", c.method, c.path, resp.StatusCode, body, c.status)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.168.1.1:80", "example.com:80", "[::]:0", "3157", "", "127.0.0.1", "127.0.0.1:99999"} {
		h, err := listen.NewHTTP(t.Context(), addr, nil, nil, log)
		if err == nil {
			h.Close()
			t.Errorf("%q was accepted", addr)
		} else if e := parley.AsError(err); e.Code != parley.CodeInvalidArgument || e.Hint == "" {
			t.Errorf("%q: got %v, hint %q", addr, err, e.Hint)
		}
	}
	b := setupHTTP(t)
	if _, err := listen.NewHTTP(t.Context(), b.http.Addr(), b.server, nil, log); err == nil || !strings.Contains(parley.AsError(err).Hint, "Another parley") {
		t.Errorf("an address in use: got %v", err)
	}
}

// A client of the older protocol cancels with a notification, which comes in a
// request of its own.
func TestLeavingOverHTTP(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "x", Hang: true})
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(deadline(t),
		&mcp.StreamableClientTransport{Endpoint: b.http.URL(), HTTPClient: client(t)},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })

	ctx, cancel := context.WithCancel(deadline(t))
	failed := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "chat", Arguments: map[string]any{"prompt": "x", "model": "gpt-5-mini"}})
		failed <- err
	}()
	asked := b.awaitRequest(t)
	cancel()
	<-failed
	wait(t, "the end of the upstream request", asked.Gone())
}

func TestCloseWithOpenStreams(t *testing.T) {
	t.Parallel()
	b := setupHTTP(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Hang: true})
	cs := b.connect(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = cs.CallTool(deadline(t), &mcp.CallToolParams{Name: "chat", Arguments: map[string]any{"prompt": "x", "model": "gpt-5-mini"}})
	}()
	b.awaitRequest(t)
	b.engine.Close()
	b.http.Close()
	wait(t, "the end of the call", done)
}
