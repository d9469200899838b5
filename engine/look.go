package engine

import (
	"context"
	"errors"

	"parley"
)

// View is a run as it stands, with what it has streamed so far.
type View struct {
	parley.Run
	Draft string
}

// Await returns the run once it has ended, whichever process works on it, or
// ctx's error if that comes first. Waiting does not affect the run.
func (e *Engine) Await(ctx context.Context, runID string) (parley.Run, error) {
	for {
		if l := e.find(runID); l != nil {
			select {
			case <-l.done:
			case <-ctx.Done():
				return l.view(), context.Cause(ctx)
			}
			if l.ended != nil {
				return *l.ended, nil // an ending that could not be stored says so itself
			}
		}
		run, err := e.store.Run(ctx, runID)
		if err == nil && !run.State.Ended() {
			err = e.store.Changed(ctx)
		} else if err == nil {
			return run, nil
		}
		if ctx.Err() != nil {
			return run, context.Cause(ctx)
		}
		if err != nil {
			return run, err
		}
	}
}

// Look returns the run as it stands now.
func (e *Engine) Look(ctx context.Context, runID string) (View, error) {
	if l := e.find(runID); l != nil {
		return View{Run: l.view(), Draft: l.soFar()}, nil
	}
	run, err := e.store.Run(ctx, runID)
	if err != nil || run.State.Ended() {
		return View{Run: run}, err
	}
	draft, err := e.store.Draft(ctx, runID)
	return View{Run: run, Draft: draft}, err
}

// Tail returns up to n bytes of the end of a run's draft in this process, and
// its progress; cheap enough to call all the time.
func (e *Engine) Tail(runID string, n int) (tail string, p parley.Progress, ok bool) {
	l := e.find(runID)
	if l == nil {
		return "", p, false
	}
	tail, p = l.tail(n)
	return tail, p, true
}

// Follow calls text with the answer, piece by piece as it comes, and returns
// the run when it has ended. Of a run in another process the answer comes in
// one piece at the end.
func (e *Engine) Follow(ctx context.Context, runID string, text func(string)) (parley.Run, error) {
	l := e.find(runID)
	if l == nil {
		run, err := e.Await(ctx, runID)
		if err == nil && run.Result != nil && run.Result.Content != "" {
			text(run.Result.Content)
		}
		return run, err
	}
	for seen := 0; ; {
		piece, changed := l.since(seen)
		if piece != "" {
			text(piece)
			seen += len(piece)
			continue
		}
		select {
		case <-l.done:
			if rest, _ := l.since(seen); rest != "" {
				text(rest)
			}
			if l.ended != nil {
				return *l.ended, nil
			}
			return e.Await(ctx, runID)
		case <-changed:
		case <-ctx.Done():
			return l.view(), context.Cause(ctx)
		}
	}
}

// RunOf finds the run with the id, or the newest run of the thread with the id,
// and makes sure that the principal may see it.
func (e *Engine) RunOf(ctx context.Context, id, principal string) (parley.Run, error) {
	if !parley.ValidID(id) {
		return parley.Run{}, unknownThread()
	}
	if parley.IsRunID(id) {
		run, err := e.store.Run(ctx, id)
		if err == nil && run.Principal != principal {
			err = parley.Errorf(parley.CodeRunNotFound, "there is no run with this id")
		}
		return run, err
	}
	thread, err := e.ThreadOf(ctx, id, principal)
	if err != nil {
		return parley.Run{}, err
	}
	runs, err := e.store.Runs(ctx, parley.RunQuery{Principal: principal, ThreadID: thread.ID, Limit: 1})
	if err != nil {
		return parley.Run{}, err
	}
	if len(runs) == 0 {
		return parley.Run{}, parley.Errorf(parley.CodeRunNotFound, "this thread has no run any more; runs are kept for three days").
			WithHint("Pass full_history: true to read the thread's turns, or continue it with chat.")
	}
	return runs[0], nil
}

// Runs lists a principal's runs, newest first.
func (e *Engine) Runs(ctx context.Context, q parley.RunQuery) ([]parley.Run, error) {
	runs, err := e.store.Runs(ctx, q)
	for i := range runs {
		if l := e.find(runs[i].ID); l != nil {
			runs[i] = l.view()
		}
	}
	return runs, err
}

// HandOver marks a waited run as one that goes on without its caller. If the
// store cannot be told now, it is told with the next heartbeat.
func (e *Engine) HandOver(ctx context.Context, runID string) error {
	l := e.find(runID)
	if l == nil {
		return nil // it has ended, or someone else has it already
	}
	l.setMode(parley.ModeHandedOver, false)
	return e.saveMode(ctx, l)
}

func (e *Engine) saveMode(ctx context.Context, l *live) error {
	mode, unsaved := l.unsavedMode()
	if !unsaved {
		return nil
	}
	err := e.store.Update(ctx, l.fence, parley.RunUpdate{Mode: &mode})
	if errors.Is(err, parley.ErrFenced) {
		return nil // it ended just now
	}
	if err == nil {
		l.setMode(mode, true)
	}
	return err
}

// RequestCancel asks a run to stop, whichever process works on it, and does not
// wait until it has.
func (e *Engine) RequestCancel(ctx context.Context, runID string) error {
	if l := e.find(runID); l != nil {
		l.cancel(errCancelled)
		return nil
	}
	return e.store.RequestCancel(ctx, runID)
}

// Cancel stops a run, whichever process works on it, and returns when it has
// stopped or ctx ends. A run that has ended is returned as it is.
func (e *Engine) Cancel(ctx context.Context, runID string) (parley.Run, error) {
	if err := e.RequestCancel(ctx, runID); err != nil {
		return parley.Run{}, err
	}
	return e.Await(ctx, runID)
}

func (e *Engine) find(runID string) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[runID]
}
