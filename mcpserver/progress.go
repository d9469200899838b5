package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
	"parley/engine"
)

// firstProgress is when a client that asked for progress hears of it first.
const firstProgress = 500 * time.Millisecond

// tailBytes of the draft are shown as progress.
const tailBytes = 160

// progress tells a client how its call is going. Its zero value says nothing.
type progress struct {
	session *mcp.ServerSession
	token   any
	every   time.Duration
}

func (s *server) progressFor(req *mcp.CallToolRequest) progress {
	return progress{session: req.Session, token: req.Params.GetProgressToken(), every: s.cfg.ProgressEvery}
}

// report is the progress of one call.
type report struct {
	runID atomic.Pointer[string]
	stop  func()
}

// on says which run the call is about, once there is one.
func (r *report) on(runID string) { r.runID.Store(&runID) }

func (r *report) message(e *engine.Engine) string {
	id := r.runID.Load()
	if id == nil {
		return "starting"
	}
	tail, at, _ := e.Tail(*id, tailBytes)
	return describe(at, tail)
}

// begin reports on a call until stop is called, which waits for the last
// report.
func (p progress) begin(ctx context.Context, e *engine.Engine) *report {
	r := &report{stop: func() {}}
	if p.token == nil {
		return r
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	r.stop = func() { cancel(); <-done }
	go func() {
		defer close(done)
		timer := time.NewTimer(min(firstProgress, p.every))
		defer timer.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			// A client that does not read must not hold the call up for ever:
			// the notification shares the call's context.
			if p.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: p.token, Progress: float64(n), Message: r.message(e),
			}) != nil {
				return
			}
			timer.Reset(p.every)
		}
	}()
	return r
}

func describe(at parley.Progress, tail string) string {
	stage := at.Stage
	if at.Total > 1 {
		stage += fmt.Sprintf(" (%d/%d)", at.Done, at.Total)
	}
	if tail == "" {
		return stage
	}
	return stage + ": …" + strings.Join(strings.Fields(strings.ToValidUTF8(tail, "")), " ")
}
