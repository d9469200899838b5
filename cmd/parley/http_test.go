package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/fakeai"
)

// httpServer is a `parley serve --http` process.
type httpServer struct {
	*server
	url string
}

var servesAt = regexp.MustCompile(`serves MCP at (http://\S+/mcp)`)

// serveHTTP starts a server on a free port, which it names on stderr.
func (r *rig) serveHTTP(flags ...string) *httpServer {
	r.t.Helper()
	cmd := r.command(append([]string{"serve", "--http", "127.0.0.1:0"}, flags...)...)
	h := &httpServer{server: r.spawn(cmd)}
	h.listen()
	late := time.After(patience)
	for {
		more := h.stderr.wrote()
		if found := servesAt.FindStringSubmatch(h.stderr.String()); found != nil {
			h.url = found[1]
			return h
		}
		select {
		case <-more:
		case <-h.exited:
			r.t.Fatalf("the server ended; stderr:\n%s", h.stderr.String())
		case <-late:
			r.t.Fatalf("the server does not say where it is; stderr:\n%s", h.stderr.String())
		}
	}
}

func TestServeHTTPNamesItsPort(t *testing.T) {
	t.Parallel()
	h := newRig(t).serveHTTP()
	if strings.Contains(h.url, ":0/") {
		t.Errorf("the address is %s", h.url)
	}
	h.signal(interrupt)
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if h.lines != 0 {
		t.Errorf("%d lines on stdout", h.lines)
	}
}

// Closed stdin ends only a server on stdio.
func TestServeHTTPOutlivesItsInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.serveHTTP("--stdio")
	h.hello()
	h.ok("completed", "chat", args{"prompt": "over stdio"})
	_ = h.stdin.Close()
	session := connectHTTP(t, h.url)
	chatOverHTTP(deadline(t), t, session, "over HTTP")
	_ = session.Close()
	h.signal(terminate)
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestServeHTTPEndsPromptlyWithRunsInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.serveHTTP()
	hold := make(chan struct{})
	defer close(hold)
	r.up.Script("", fakeai.Script{Hold: hold})
	session := connectHTTP(t, h.url)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = session.CallTool(deadline(t), toolCall("chat", args{"prompt": "waits"}))
	}()
	r.requests(1)
	began := time.Now()
	h.signal(terminate)
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	prompt(t, "SIGTERM with a call over HTTP", time.Since(began))
	<-done
}
