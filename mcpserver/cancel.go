package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// requestIDHeader is where the listener puts a call's JSON-RPC id, which the
// SDK keeps to itself. Without it a cancel has no reason.
const requestIDHeader = "Parley-Request-Id"

// reasonPatience is how long the reason of a cancel is waited for: it comes in
// the same message, but by another goroutine.
const reasonPatience = 100 * time.Millisecond

// cancels brings the reason of a cancel notification to the call that it
// cancels. The SDK only ends the call's context.
type cancels struct {
	mu    sync.Mutex
	calls map[callKey]chan string
}

type callKey struct {
	session *mcp.ServerSession
	id      string
}

// expect registers a call until done is called. The channel is nil where no
// reason can come.
func (c *cancels) expect(req *mcp.CallToolRequest) (reason <-chan string, done func()) {
	if req.Extra == nil || req.Extra.Header.Get(requestIDHeader) == "" {
		return nil, func() {}
	}
	key := callKey{req.Session, req.Extra.Header.Get(requestIDHeader)}
	said := make(chan string, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[key] = said
	return said, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, key)
	}
}

// listen is a middleware that hears cancel notifications.
func (c *cancels) listen(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(*mcp.CancelledParams)
		session, ours := req.GetSession().(*mcp.ServerSession)
		if ok && ours && params != nil {
			c.say(session, params)
		}
		return next(ctx, method, req)
	}
}

func (c *cancels) say(session *mcp.ServerSession, params *mcp.CancelledParams) {
	id, err := json.Marshal(params.RequestID)
	if err != nil {
		return // it was JSON a moment ago
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.calls[callKey{session, string(id)}] <- params.Reason:
	default: // an unknown call, or one that has been cancelled before
	}
}

// timedOut reports whether the client cancelled because its own time was up.
// Every client that was measured sends a cancel then.
func (c call) timedOut() bool {
	if c.reason == nil {
		return false
	}
	timer := time.NewTimer(reasonPatience)
	defer timer.Stop()
	select {
	case reason := <-c.reason:
		reason = strings.ToLower(reason)
		for _, word := range []string{"timeout", "timed out", "time out", "deadline"} {
			if strings.Contains(reason, word) {
				return true
			}
		}
	case <-timer.C:
	}
	return false
}
