package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"parley"
	"parley/brief"
)

// work carries one run out, from its place in the queue to its record.
func (e *Engine) work(ctx context.Context, l *live, plan parley.Plan, place *place, checkpoints map[string][]byte) {
	timer := time.AfterFunc(e.limits.Run, func() { l.cancel(errRunLimit) })
	defer timer.Stop()

	job := newJob(e, l, checkpoints)
	result, err := job.do(ctx, plan, place)
	e.record(ctx, l, job, result, err)
}

// job is the [parley.Work] of one attempt at one run.
type job struct {
	engine      *Engine
	live        *live
	checkpoints map[string][]byte

	// mu guards what a plan that asks several models at once shares.
	mu     sync.Mutex
	spends []parley.Spend
	asked  []int // upstream requests per seat, over all attempts
	// written is how much of the draft is in the store. It belongs to the
	// goroutine that writes drafts, and to whoever has waited for its end.
	written int
}

func newJob(e *Engine, l *live, checkpoints map[string][]byte) *job {
	j := &job{engine: e, live: l, checkpoints: checkpoints, asked: make([]int, len(l.run.Seats))}
	for seat := range j.asked {
		j.asked[seat] = l.run.Attempt - 1
		if seat < len(l.run.Progress.Asked) {
			j.asked[seat] = max(j.asked[seat], l.run.Progress.Asked[seat])
		}
	}
	return j
}

func (j *job) do(ctx context.Context, plan parley.Plan, place *place) (parley.Result, error) {
	if err := place.wait(ctx); err != nil {
		return parley.Result{}, err
	}
	if j.live.run.State == parley.StateQueued {
		running := parley.StateRunning
		if err := j.engine.store.Update(ctx, j.fence(), parley.RunUpdate{State: &running}); err != nil {
			return parley.Result{}, err
		}
		j.live.setState(running)
	}
	stopDrafts := j.keepDraft(ctx)
	defer stopDrafts()
	return j.carryOut(ctx, plan)
}

// carryOut keeps a plan's or a provider's panic to its own run.
func (j *job) carryOut(ctx context.Context, plan parley.Plan) (result parley.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			j.engine.log.Error("a run panicked", "run", j.live.run.ID, "panic", r, "stack", string(debug.Stack()))
			err = parley.AsError(fmt.Errorf("panic: %v", r))
		}
	}()
	return plan.Do(ctx, j)
}

func (j *job) fence() parley.Fence { return j.live.fence }

// Seat implements [parley.Work].
func (j *job) Seat(i int) parley.Seat { return j.live.run.Seats[i] }

// Stage implements [parley.Work].
func (j *job) Stage(p parley.Progress) { j.live.stage(p) }

// Checkpoint implements [parley.Work].
func (j *job) Checkpoint(ctx context.Context, name string, part any) error {
	data, err := json.Marshal(part)
	if err != nil {
		return fmt.Errorf("encoding the checkpoint %s: %w", name, err)
	}
	return j.engine.store.Checkpoint(ctx, j.fence(), name, data)
}

// Restore implements [parley.Work].
func (j *job) Restore(name string, part any) (bool, error) {
	data, ok := j.checkpoints[name]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(data, part); err != nil {
		return false, fmt.Errorf("decoding the checkpoint %s: %w", name, err)
	}
	return true, nil
}

// Ask implements [parley.Work].
func (j *job) Ask(ctx context.Context, seat int, extra ...parley.Message) (parley.Reply, []parley.Attempt, error) {
	e, run := j.engine, j.live.run
	s := run.Seats[seat]
	ref := s.Decision.Chosen
	provider, ok := e.providers[ref.Provider]
	if !ok {
		return parley.Reply{}, nil, parley.Errorf(parley.CodeProviderUnavailable, "the provider %s is not configured in this process", ref.Provider)
	}
	turns, err := e.store.Turns(ctx, run.ThreadID, s.Shown)
	if err != nil {
		return parley.Reply{}, nil, err
	}
	question := brief.Question{Text: run.Request.Prompt, Stamp: run.Request.Stamp}
	if s.Shown.Len() == 0 {
		question.LeftOut = s.Shown.Through
	}
	call := parley.Call{
		Model: e.model(ref), System: brief.System(),
		Messages: append(brief.Build(ref, turns, question), extra...),
		Options:  s.Options, MaxOutput: s.MaxOutput, CacheKey: run.ThreadID,
	}

	reply, attempts, err := j.ask(ctx, provider, call, seat)
	reply.Text = brief.StripLabel(run.Tool, ref, reply.Text)
	return reply, attempts, err
}

// keepDraft writes the draft down now and then, so that other processes and
// the next owner can read it. Short answers never cause a write.
func (j *job) keepDraft(ctx context.Context) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		j.writeDrafts(ctx, quit)
	}()
	return func() { close(quit); <-done }
}

func (j *job) writeDrafts(ctx context.Context, quit <-chan struct{}) {
	e := j.engine
	tick := time.NewTicker(e.limits.DraftEvery)
	defer tick.Stop()
	failed := false
	for {
		have, changed := j.live.size()
		if failed {
			changed = nil // a store in trouble is tried again at its pace, not at the answer's
		}
		if failed || have-j.written < e.limits.DraftBytes {
			select {
			case <-quit:
				return
			case <-ctx.Done():
				return
			case <-changed:
				continue
			case <-tick.C:
			}
		}
		if have == j.written {
			continue
		}
		text, _ := j.live.since(j.written)
		err := e.store.AppendDraft(ctx, j.fence(), text)
		switch {
		case errors.Is(err, parley.ErrFenced):
			j.live.cancel(parley.ErrFenced)
			return
		case err == nil:
			j.written += len(text)
		case ctx.Err() != nil:
			return
		case !failed:
			e.log.Warn("writing a draft down failed; the answer itself goes on", "run", j.live.run.ID, "error", err)
		}
		failed = err != nil
	}
}
