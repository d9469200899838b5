package engine

import (
	"context"
	"fmt"

	"parley"
)

// Start takes a request from admission to the point where its run is written
// down and at work, and returns the run. It does not wait for the answer, and
// ctx only bounds the start: the run never hangs on the request's context.
func (e *Engine) Start(ctx context.Context, req parley.Request) (parley.Run, error) {
	return e.start(ctx, req, false)
}

// Leave writes a run down for another process to work on, for callers that
// end before the answer comes.
func (e *Engine) Leave(ctx context.Context, req parley.Request) (parley.Run, error) {
	req.Mode = parley.ModeAsync
	return e.start(ctx, req, true)
}

func (e *Engine) start(ctx context.Context, req parley.Request, leave bool) (parley.Run, error) {
	e.starts.Add(1)
	defer e.starts.Done()
	plan, err := e.plan(req)
	if err != nil {
		return parley.Run{}, err
	}
	place, err := e.admission.draw(req.Caller.Session)
	if err != nil {
		return parley.Run{}, err
	}
	handed := false
	defer func() {
		if !handed {
			place.give()
		}
	}()

	thread, begin, err := e.thread(ctx, &req)
	if err != nil {
		return parley.Run{}, err
	}
	seats, err := e.seats(ctx, req, plan, thread)
	if err != nil {
		return parley.Run{}, err
	}

	now := e.clock.Now()
	run := parley.Run{
		ID: parley.NewRunID(), ThreadID: thread.ID,
		Principal: req.Caller.Principal, Project: req.Caller.Project,
		Tool: req.Tool, Title: parley.TitleOf(req.Prompt),
		State: parley.StateRunning, Mode: req.Mode,
		Request: req, Seats: seats,
		Owner: e.store.Owner(), Attempt: 1,
		Progress:  parley.Progress{Stage: "starting", Total: max(1, len(seats))},
		CreatedAt: now, HeartbeatAt: now,
	}
	switch {
	case leave:
		run.State, run.Owner, run.Attempt = parley.StateQueued, "", 0
	case place.queued():
		run.State, run.Progress.Stage = parley.StateQueued, "queued"
	}
	var newThread *parley.Thread
	if begin {
		newThread = &thread
	}
	stored, err := e.store.Begin(ctx, run, newThread)
	if err != nil {
		return parley.Run{}, err
	}
	if stored.ID != run.ID {
		return stored, sameCall(stored.Request, req)
	}
	if leave {
		return stored, nil
	}
	handed = true
	return stored, e.launch(stored, plan, place, nil, "")
}

// sameCall makes sure that a key which was used before was used for this very
// question: nobody may get the answer to another one.
func sameCall(before, now parley.Request) error {
	if before.Tool == now.Tool && before.Prompt == now.Prompt && before.ThreadID == now.ThreadID && before.Model == now.Model {
		return nil
	}
	return parley.Errorf(parley.CodeInvalidArgument, "this idempotency_key was used for another call").
		WithHint("Use a new key for each question; repeat one only to repeat the same call.")
}

// plan makes the request's work.
func (e *Engine) plan(req parley.Request) (parley.Plan, error) {
	newPlan, ok := e.plans[req.Tool]
	if !ok {
		return nil, parley.Errorf(parley.CodeInternal, "the tool %q has no plan", req.Tool)
	}
	return newPlan(req)
}

// thread loads the request's thread, or begins one. begin says that it has to
// be written with the run.
func (e *Engine) thread(ctx context.Context, req *parley.Request) (t parley.Thread, begin bool, err error) {
	if req.ThreadID != "" && !req.NewThread {
		t, err = e.ThreadOf(ctx, req.ThreadID, req.Caller.Principal)
		if err != nil {
			return t, false, err
		}
		if limit := e.limits.MaxTurns; limit > 0 && t.Turns >= limit {
			return t, false, parley.Errorf(parley.CodeContinuationExpired,
				"this thread has its %d turns, the limit set by MAX_CONVERSATION_TURNS", limit).
				WithHint("Begin a new thread by leaving continuation_id out, or raise the limit.")
		}
		if keep := e.limits.KeepThreads; keep > 0 && e.clock.Now().Sub(t.UpdatedAt) > keep {
			return t, false, parley.Errorf(parley.CodeContinuationExpired,
				"this thread was last used %s, before the limit set by CONVERSATION_TIMEOUT_HOURS", t.UpdatedAt.UTC().Format("2006-01-02 15:04 MST")).
				WithHint("Begin a new thread by leaving continuation_id out, or raise the limit.")
		}
		req.ThreadID = t.ID
		return t, false, nil
	}
	id := parley.NewThreadID()
	if req.NewThread && req.ThreadID != "" {
		if !parley.ValidChosenID(req.ThreadID) {
			return t, false, parley.Errorf(parley.CodeInvalidArgument, "this continuation_id cannot be chosen for a new thread").
				WithHint("Use 1 to 64 letters, digits, - or _, not beginning with conv_ or run_; or leave it out.")
		}
		id = req.ThreadID
	}
	now := e.clock.Now()
	return parley.Thread{
		ID: id, Title: parley.TitleOf(req.Prompt), Tool: req.Tool,
		Principal: req.Caller.Principal, Project: req.Caller.Project,
		CreatedAt: now, UpdatedAt: now,
	}, true, nil
}

// ThreadOf finds the thread with the id, or the thread of the run with the id,
// and makes sure that the principal may see it.
func (e *Engine) ThreadOf(ctx context.Context, id, principal string) (parley.Thread, error) {
	if !parley.ValidID(id) {
		return parley.Thread{}, unknownThread()
	}
	threadID := id
	if parley.IsRunID(id) {
		run, err := e.store.Run(ctx, id)
		if err != nil {
			return parley.Thread{}, err
		}
		threadID = run.ThreadID
	}
	t, err := e.store.Thread(ctx, threadID)
	if err != nil {
		return t, err
	}
	if t.Principal != principal {
		return parley.Thread{}, parley.Errorf(parley.CodeContinuationNotYours, "this thread belongs to someone else").
			WithHint("Ask its owner to share it, or begin a new thread by leaving continuation_id out.")
	}
	return t, nil
}

func unknownThread() error {
	return parley.Errorf(parley.CodeContinuationNotFound, "there is no thread or run with this id").
		WithHint("check_status without an id shows the recent runs, `parley threads list` the threads. To begin a new thread, name none.")
}

// launch puts a written run to work in this process. checkpoints are what an
// earlier attempt finished, and before what it had streamed.
func (e *Engine) launch(run parley.Run, plan parley.Plan, place *place, checkpoints map[string][]byte, before string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	l := newLive(run, before, cancel)
	if !e.enlist(l) {
		place.give()
		cancel(errShutdown)
		return e.abandon(run)
	}
	go func() {
		defer e.runs.Done()
		defer place.give()
		defer cancel(nil)
		e.work(ctx, l, plan, place, checkpoints)
	}()
	return nil
}

// enlist counts the run in, unless the process is ending.
func (e *Engine) enlist(l *live) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.live[l.run.ID] = l
	e.runs.Add(1)
	return true
}

// discharge forgets a run that has left this process.
func (e *Engine) discharge(l *live) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, l.run.ID)
}

// abandon gives up a run that was written down just as the process began to end.
func (e *Engine) abandon(run parley.Run) error {
	ending := &parley.Error{
		Code: parley.CodeRunInterrupted, Message: "this parley process is ending",
		Hint: "Call again; another process or a new one will answer.", Retryable: true,
	}
	ctx, done := endingContext()
	defer done()
	if run.Mode.Outlives() {
		return e.store.Release(ctx, run.Fence())
	}
	if _, err := e.store.End(ctx, run.Fence(), parley.Ending{
		State: parley.StateInterrupted, Err: ending, At: e.clock.Now(),
	}); err != nil {
		return fmt.Errorf("ending %s: %w", run.ID, err)
	}
	return ending
}
