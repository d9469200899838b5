package mcpserver

import (
	"context"
	"errors"
	"time"

	"parley"
)

// chat asks one model one question.
func (s *server) chat(ctx context.Context, c call) (*answer, error) {
	return s.ask(ctx, c, s.request(c, c.args.text("prompt")))
}

// request takes what every tool that asks a model has in common.
func (s *server) request(c call, prompt string) parley.Request {
	effort := c.args.text("reasoning_effort")
	if effort == "" {
		effort = c.args.text("thinking_mode")
	}
	req := parley.Request{
		Tool: c.tool, Prompt: prompt, Model: c.args.text("model"), Provider: c.args.text("provider"),
		ThreadID: c.args.text("continuation_id"), NewThread: c.args.flag("new_thread"),
		IdempotencyKey: c.args.text("idempotency_key"), Caller: c.caller, Mode: parley.ModeWaited,
		Options: parley.Options{
			Effort: parley.Effort(effort), Temperature: c.args.number("temperature"),
			Verbosity: c.args.text("verbosity"), WebSearch: c.args.flag("use_websearch"),
			MaxOutput: c.args.integer("max_output_tokens"),
		},
	}
	if c.args.flag("async") {
		req.Mode = parley.ModeAsync
	}
	if s.cfg.StampDate {
		req.Stamp = s.cfg.Clock.Now().Format(time.DateOnly)
	}
	return req
}

// ask starts a run and waits for it, as long as this client can be kept
// waiting.
func (s *server) ask(ctx context.Context, c call, req parley.Request) (*answer, error) {
	report := c.progress.begin(ctx, s.cfg.Engine)
	defer report.stop()
	// A question that has arrived is written down even if its client goes away
	// meanwhile.
	run, err := s.cfg.Engine.Start(context.WithoutCancel(ctx), req)
	if err != nil {
		return nil, err
	}
	if req.Mode == parley.ModeAsync && !run.State.Ended() {
		return going(run, "", s.cfg.Clock.Now()), nil
	}
	report.on(run.ID)
	began := s.cfg.Clock.Now()
	waiting, cancel := context.WithTimeoutCause(ctx, c.client.block, errPatience)
	end, err := s.cfg.Engine.Await(waiting, run.ID)
	cancel()

	switch {
	case err == nil:
		return outcome(end), nil
	case errors.Is(err, errPatience):
		return s.handOver(run.ID)
	case context.Cause(ctx) != context.Canceled: //nolint:errorlint // the bare sentinel is how the SDK says that the client cancelled; other causes wrap it
		// The connection is gone. The run goes on as long as this process does.
		return nil, err
	case s.cfg.Clock.Now().Sub(began) >= c.client.block*9/10 || c.timedOut():
		// It is the client's own timeout: nobody reads this answer, but the run
		// goes on.
		return s.handOver(run.ID)
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if end, err = s.cfg.Engine.Cancel(stopping, run.ID); err != nil {
		return nil, err
	}
	return outcome(end), nil
}

// stopLimit is how long the answer to a cancelled call waits for its run to
// stop; the run stops anyway.
const stopLimit = 10 * time.Second

// outcome is the answer of the call whose run has ended.
func outcome(run parley.Run) *answer {
	a := ended(run)
	a.isError = !run.State.Answered()
	return a
}

var errPatience = errors.New("the client cannot be kept waiting longer")

// handOver leaves the run going and answers with what there is.
func (s *server) handOver(runID string) (*answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.cfg.Engine.HandOver(ctx, runID); err != nil {
		// The engine goes on trying. What counts is that the client has its ids.
		s.cfg.Log.Warn("a hand-over could not be stored yet", "run", runID, "error", err)
	}
	view, err := s.cfg.Engine.Look(ctx, runID)
	if err != nil {
		return nil, err
	}
	if view.State.Ended() {
		return outcome(view.Run), nil
	}
	return partial(view.Run, view.Draft, s.cfg.Clock.Now()), nil
}
