package listen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
)

// DefaultHTTP is where `--http` without an address listens.
const DefaultHTTP = "127.0.0.1:3157"

// sessionIdle is how long a client may be silent before its session is
// forgotten. Threads and runs are not.
const sessionIdle = 2 * time.Hour

// modernProtocol is the first revision without sessions.
const modernProtocol = "2026-07-28"

// HTTP serves MCP at /mcp, and a page about the server's health at / and
// /health, for any number of sessions.
type HTTP struct {
	listener net.Listener
	server   *http.Server
	mcp      *mcp.Server
}

// Health is what the health page shows.
type Health func() map[string]any

// NewHTTP listens on a loopback address. Others are refused: without access
// tokens anybody on the network could spend the user's money.
func NewHTTP(ctx context.Context, addr string, server *mcp.Server, health Health, log *slog.Logger) (*HTTP, error) {
	if err := requireLoopback(addr); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "cannot listen on %s: %w", addr, err).
			WithHint("Another parley may be running there; choose another address with --http ADDR.")
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcpHandler(server, log))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(health()) // a reader that left
	})
	mux.HandleFunc("GET /{$}", healthPage(health))
	return &HTTP{listener: l, mcp: server, server: &http.Server{
		Handler:           ownPagesOnly(mux),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}, nil
}

func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return parley.Errorf(parley.CodeInvalidArgument, "%q is not an address", addr).WithHint("Use HOST:PORT, such as %s.", DefaultHTTP)
	}
	if isLoopback(host) {
		return nil
	}
	return parley.Errorf(parley.CodeInvalidArgument, "%s is not a loopback address", addr).
		WithHint("Listen on 127.0.0.1, ::1 or localhost: this version has no access tokens yet, and anybody who can connect can spend your money.")
}

// ownPagesOnly refuses what a foreign web page may have caused: a request with
// another site's Origin, or for another name that was made to point here. It
// asks so of every method and path, because even reading tells a page something.
func ownPagesOnly(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(hostOf(r.Host)) {
			http.Error(w, "this server answers to its own loopback address only", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || u.Host != r.Host {
				http.Error(w, "requests from other sites are refused", http.StatusForbidden)
				return
			}
		}
		guard.Handler(next).ServeHTTP(w, r)
	})
}

// hostOf drops the port, if there is one.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// mcpHandler serves both eras on one URL: the revision in the header decides.
func mcpHandler(server *mcp.Server, log *slog.Logger) http.Handler {
	pick := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(pick, &mcp.StreamableHTTPOptions{
		SessionTimeout: sessionIdle, MaxRequestBodyBytes: MaxFrame, Logger: log,
	})
	stateless := mcp.NewStreamableHTTPHandler(pick, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: MaxFrame, Logger: log, PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !checkBody(w, r) {
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= modernProtocol {
			// Here a client cancels by hanging up, for which there is no reason.
			r.Header.Del(requestIDHeader)
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}

// checkBody refuses what the JSON decoder would quietly repair.
func checkBody(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxFrame))
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("the message is longer than %d bytes", MaxFrame), http.StatusRequestEntityTooLarge)
		return false
	case err != nil:
		http.Error(w, "the message could not be read", http.StatusBadRequest)
		return false
	case !utf8.Valid(body) || !json.Valid(body):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not valid UTF-8 JSON"}}`+"\n")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del(requestIDHeader)
	if id := idIn(body); id != nil {
		r.Header.Set(requestIDHeader, string(id))
	}
	return true
}

// Addr is where the server listens.
func (h *HTTP) Addr() string { return h.listener.Addr().String() }

// Serve answers until Close.
func (h *HTTP) Serve() error {
	if err := h.server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}

// lastAnswers is how long Close waits for answers that are on their way, and
// for sessions to end.
const lastAnswers = 30 * time.Millisecond

// Close gives answers that are on their way a moment to leave, and ends.
// Sessions with a call that still runs end when it does.
func (h *HTTP) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	if h.server.Shutdown(ctx) != nil {
		_ = h.server.Close()
	}
	var sessions sync.WaitGroup
	for s := range h.mcp.Sessions() {
		if s.ID() != "" { // the others are not ours
			sessions.Go(func() { _ = s.Close() })
		}
	}
	ended := make(chan struct{})
	go func() { sessions.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(lastAnswers):
	}
}

// healthPage is a page for people who open the address in a browser.
func healthPage(health Health) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		if err := page.Execute(w, rows(health())); err != nil {
			return // the reader left
		}
	}
}

// mcpURL is the address to give to clients.
func mcpURL(addr string) string { return "http://" + strings.TrimSuffix(addr, "/") + "/mcp" }

// URL is the address to give to clients.
func (h *HTTP) URL() string { return mcpURL(h.Addr()) }
