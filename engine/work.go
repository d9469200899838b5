package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley"
	"parley/brief"
)

// work carries one run out, from its place in the queue to its record.
func (e *Engine) work(ctx context.Context, l *live, plan parley.Plan, place *place, checkpoints map[string][]byte) {
	timer := time.AfterFunc(e.limits.Run, func() { l.cancel(errRunLimit) })
	defer timer.Stop()

	job := &job{engine: e, live: l, checkpoints: checkpoints}
	result, err := job.do(ctx, plan, place)
	e.record(ctx, l, job, result, err)
}

// job is the [parley.Work] of one attempt at one run.
type job struct {
	engine      *Engine
	live        *live
	checkpoints map[string][]byte
	spends      []parley.Spend
	// written is how much of the draft is in the store. It belongs to the
	// goroutine that writes drafts, and to whoever has waited for its end.
	written int
}

func (j *job) do(ctx context.Context, plan parley.Plan, place *place) (parley.Result, error) {
	if place.queued() {
		if err := place.wait(ctx); err != nil {
			return parley.Result{}, err
		}
		running := parley.StateRunning
		if err := j.engine.store.Update(ctx, j.fence(), parley.RunUpdate{State: &running}); err != nil {
			return parley.Result{}, err
		}
		j.live.setState(running)
	}
	stopDrafts := j.keepDraft(ctx)
	defer stopDrafts()
	return plan.Do(ctx, j)
}

func (j *job) fence() parley.Fence { return j.live.run.Fence() }

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

	slot, ok := e.upstream[ref.Provider].draw()
	if !ok {
		return parley.Reply{}, nil, &parley.Error{
			Code: parley.CodeOverCapacity, Message: "too many calls are waiting for " + ref.Provider,
			Provider: ref.Provider, Retryable: true, Hint: "Wait for some of them to finish, or ask another provider.",
		}
	}
	defer slot.give()
	if slot.queued() {
		j.Stage(parley.Progress{Stage: "waiting for a place at " + ref.Provider, Total: len(run.Seats)})
		if err := slot.wait(ctx); err != nil {
			return parley.Reply{}, nil, err
		}
	}
	j.Stage(parley.Progress{Stage: "waiting for " + ref.String(), Total: len(run.Seats)})
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
	for {
		have, changed := j.live.size()
		if have-j.written < e.limits.DraftBytes {
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
		if err := e.store.AppendDraft(ctx, j.fence(), text); err != nil {
			if errors.Is(err, parley.ErrFenced) {
				j.live.cancel(parley.ErrFenced)
				return
			}
			e.log.Warn("writing a draft down failed; the answer itself goes on", "run", j.live.id, "error", err)
			continue
		}
		j.written += len(text)
	}
}
