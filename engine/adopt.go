package engine

import (
	"context"
	"errors"
	"time"

	"parley"
)

// every calls f at once and then each d until ctx ends.
func every(ctx context.Context, d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		f()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// keepAlive tells the store that this process still works on its runs, and
// what it could not be told before.
func (e *Engine) keepAlive(ctx context.Context) {
	every(ctx, e.limits.Heartbeat, func() {
		working := e.working()
		if len(working) == 0 {
			return
		}
		e.storeAgain(recordContext)
		err := e.store.Heartbeat(ctx, e.clock.Now())
		for _, l := range working {
			err = errors.Join(err, e.saveMode(ctx, l))
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("heartbeat failed", "error", err)
		}
	})
}

// watchCancels notices when another process asks to cancel one of our runs.
func (e *Engine) watchCancels(ctx context.Context) {
	failing := false
	every(ctx, e.limits.CancelPoll, func() {
		if len(e.working()) == 0 {
			return
		}
		ids, err := e.store.CancelRequests(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			e.log.Warn("asking for cancels failed", "error", err)
		}
		failing = err != nil
		for _, id := range ids {
			if l := e.find(id); l != nil {
				l.cancel(errCancelled)
			}
		}
	})
}

// working are the runs in this process's hands.
func (e *Engine) working() []*live {
	e.mu.Lock()
	defer e.mu.Unlock()
	runs := make([]*live, 0, len(e.live))
	for _, l := range e.live {
		runs = append(runs, l)
	}
	return runs
}

// tendOrphans takes up or ends the runs whose process died, and now and then
// removes what has passed its time.
func (e *Engine) tendOrphans(ctx context.Context) {
	var pruned time.Time
	every(ctx, e.limits.OrphanPoll, func() {
		orphans, err := e.store.Orphans(ctx)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("looking for orphaned runs failed", "error", err)
		}
		for _, run := range orphans {
			if err := e.adopt(ctx, run); err != nil && !errors.Is(err, parley.ErrFenced) && ctx.Err() == nil {
				e.log.Warn("taking up a run failed", "run", run.ID, "error", err)
			}
		}
		if now := e.clock.Now(); e.adopts && now.Sub(pruned) > time.Hour {
			pruned = now
			e.prune(ctx, now)
		}
	})
}

func (e *Engine) prune(ctx context.Context, now time.Time) {
	r := parley.Retention{RunsEndedBefore: now.Add(-e.limits.KeepRuns)}
	if e.limits.KeepThreads > 0 {
		r.ThreadsIdleBefore = now.Add(-e.limits.KeepThreads)
	}
	if err := e.store.Prune(ctx, r); err != nil && ctx.Err() == nil {
		e.log.Warn("removing old runs failed", "error", err)
	}
}

// A run whose process died is asked again once. One that was left in order may
// be taken up once more, which keeps the question within its three requests.
const (
	attemptsAfterDeath   = 2
	attemptsAfterRelease = 3
)

// adopt takes one orphan up, ends it, or leaves it for someone who can.
func (e *Engine) adopt(ctx context.Context, run parley.Run) error {
	most := attemptsAfterDeath
	if run.Owner == "" {
		most = attemptsAfterRelease
	}
	switch {
	case run.CancelRequested:
		return e.store.RequestCancel(ctx, run.ID) // which ends a run that nobody works on
	case !run.Mode.Outlives():
		return e.interrupt(ctx, run, "its process ended before the answer was complete")
	case run.Attempt >= most:
		return e.interrupt(ctx, run, "its process ended again and again before the answer was complete")
	case e.adopts && e.canAsk(run):
		return e.takeUp(ctx, run)
	case e.clock.Now().Sub(run.HeartbeatAt) > e.limits.TakeOver:
		return e.interrupt(ctx, run, "its process ended, and no other with the same provider and account came in time")
	}
	return nil
}

// canAsk reports whether this process has every endpoint and account that the
// run was decided for.
func (e *Engine) canAsk(run parley.Run) bool {
	if _, ok := e.plans[run.Tool]; !ok {
		return false
	}
	for _, s := range run.Seats {
		p, ok := e.providers[s.Decision.Chosen.Provider]
		if !ok || p.Fingerprint() != s.Fingerprint {
			return false
		}
	}
	return true
}

// takeUp claims a run and carries on from its checkpoints. Everything that can
// fail comes before the claim, so that no run is claimed and left lying.
func (e *Engine) takeUp(ctx context.Context, run parley.Run) error {
	plan, err := e.plan(run.Request)
	if err != nil {
		return err
	}
	checkpoints, err := e.store.Checkpoints(ctx, run.ID)
	if err != nil {
		return err
	}
	before, err := e.store.Draft(ctx, run.ID)
	if err != nil {
		return err
	}
	place, err := e.admission.draw("adopted")
	if err != nil || place.queued() {
		if err == nil {
			place.give()
		}
		return nil // no room now; the next round tries again, or another process
	}
	claimed, err := e.store.Claim(ctx, run.Fence(), e.clock.Now())
	if err != nil {
		place.give()
		return err
	}
	e.log.Info("taking up a run", "run", run.ID, "attempt", claimed.Attempt)
	return e.launch(claimed, plan, place, checkpoints, before)
}

// interrupt ends an orphan with the draft it had.
func (e *Engine) interrupt(ctx context.Context, run parley.Run, why string) error {
	draft, err := e.store.Draft(ctx, run.ID)
	if err != nil {
		return err
	}
	claimed, err := e.store.Claim(ctx, run.Fence(), e.clock.Now())
	if err != nil {
		return err
	}
	ending := parley.Ending{
		State: parley.StateInterrupted, Result: parley.Result{Content: draft}, At: e.clock.Now(),
		Err: &parley.Error{
			Code: parley.CodeRunInterrupted, Message: "the run was interrupted: " + why, Retryable: true,
			Hint: "Ask again on the same thread; what the run had so far is kept with it.",
		},
	}
	if len(run.Seats) > 0 {
		ending.Result.Model = run.Seats[0].Decision.Chosen
	}
	writing, done := recordContext()
	defer done()
	_, err = e.store.End(writing, claimed.Fence(), ending)
	if err != nil && !errors.Is(err, parley.ErrFenced) {
		e.remember(unstored{claimed.Fence(), ending})
	}
	return err
}
