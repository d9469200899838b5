package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
)

// tool is a tool as data.
type tool struct {
	name, title, about string
	fields             []field
	// openWorld tools ask models outside this machine.
	openWorld bool
	// idempotent tools may be called again with the same effect.
	idempotent bool
	// essential tools cannot be switched off.
	essential bool
	// alone tools need neither engine nor store.
	alone  bool
	handle func(ctx context.Context, c call) (*answer, error)
}

// call is one call of a tool.
type call struct {
	tool   string
	args   args
	caller parley.Caller
	client client
	// progress reports to the client; a no-op if it did not ask for progress.
	progress progress
	// reason brings why the client cancelled, if it says so.
	reason <-chan string
}

// published is the tool as clients see it. Nothing here writes to the user's
// project, which is what read-only means to the clients that ask.
func (t tool) published() *mcp.Tool {
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schema(t.fields),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: t.idempotent, OpenWorldHint: &t.openWorld},
	}
}

// handler decodes, calls and shapes. A panic in a tool is a tool's error, not
// the end of everybody's server.
func (s *server) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		c := call{tool: t.name, caller: s.caller(req), progress: s.progressFor(req)}
		c.client = s.clientFor(c.caller.Client)
		var done func()
		c.reason, done = s.cancels.expect(req)
		defer done()
		defer func() {
			if r := recover(); r != nil {
				s.cfg.Log.Error("a tool panicked", "tool", t.name, "panic", fmt.Sprint(r))
				result, err = s.shape(c, failure(t.name, parley.AsError(fmt.Errorf("panic: %v", r)))), nil
			}
		}()
		a, err := s.run(ctx, t, &c, req.Params.Arguments)
		if err != nil {
			a = failure(t.name, parley.AsError(err))
			if cause := parley.AsError(err); cause.Code == parley.CodeInternal {
				s.cfg.Log.Error("a tool failed", "tool", t.name, "error", cause.Err)
			}
		}
		return s.shape(c, a), nil
	}
}

func (s *server) run(ctx context.Context, t tool, c *call, raw json.RawMessage) (*answer, error) {
	var err error
	if c.args, err = parse(t.name, t.fields, raw); err != nil {
		return nil, err
	}
	if s.cfg.Trouble != nil && !t.alone {
		return nil, s.cfg.Trouble
	}
	return t.handle(ctx, *c)
}

func (s *server) caller(req *mcp.CallToolRequest) parley.Caller {
	c := parley.Caller{Principal: s.cfg.Principal, Project: s.cfg.Project, Session: req.Session.ID()}
	if info := req.ClientInfo(); info != nil {
		c.Client = info.Name
	}
	if c.Session == "" {
		c.Session = fmt.Sprintf("%p", req.Session) // stdio and sockets: one session is one connection
	}
	return c
}
