package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"parley"
)

// ask makes at most Limits.Requests upstream requests, those of earlier attempts
// at the run included. It asks again only before the first byte of text, within
// the run's time, and no sooner than the provider said.
func (j *job) ask(ctx context.Context, p parley.Provider, call parley.Call, seat int) (parley.Reply, []parley.Attempt, error) {
	e := j.engine
	var attempts []parley.Attempt
	deadline := j.live.run.CreatedAt.Add(e.limits.Run)
	for n := j.asked(seat) + 1; ; n++ {
		if err := j.noteAsked(ctx, seat, n); err != nil {
			return parley.Reply{}, attempts, err
		}
		began := e.clock.Now()
		reply, err := j.request(ctx, p, call)
		reply.Usage = reply.Usage.Priced(call.Model.Price)
		attempt := parley.Attempt{
			Model: call.Model.String(), Outcome: "ok", Millis: e.clock.Now().Sub(began).Milliseconds(),
		}
		if err != nil {
			attempt.Outcome = string(parley.ErrorCode(err))
		}
		attempts = append(attempts, attempt)
		j.spend(ctx, call, reply, attempt.Outcome, j.live.run.Seats[seat].BriefTokens)
		if err == nil {
			return reply, attempts, nil
		}
		failure := parley.AsError(err)
		failure.Provider, failure.Model, failure.Attempts = p.ID(), call.Model.Name, attempts
		if failure.Hint == "" && failure.Retryable {
			failure.Hint = "Try again, or ask another model."
		}
		pause := e.pause(len(attempts), failure.RetryAfter)
		tooLate := e.clock.Now().Add(pause).After(deadline)
		if ctx.Err() != nil || !failure.Retryable || reply.Text != "" || n >= e.limits.Requests || tooLate {
			return reply, attempts, failure
		}
		j.Stage(parley.Progress{
			Stage: fmt.Sprintf("%s: %s, asking again in %s", call.Model, attempt.Outcome, pause.Round(100*time.Millisecond)),
			Total: len(j.live.run.Seats),
		})
		if err := e.clock.Sleep(ctx, pause); err != nil {
			return reply, attempts, err
		}
	}
}

// asked is how many requests earlier attempts have made for a seat.
func (j *job) asked(seat int) int {
	run := j.live.run
	n := run.Attempt - 1
	if seat < len(run.Progress.Asked) {
		n = max(n, run.Progress.Asked[seat])
	}
	return n
}

// noteAsked writes down that the nth request for a seat is about to be made,
// unless the attempt's number says it already.
func (j *job) noteAsked(ctx context.Context, seat, n int) error {
	run := j.live.run
	if n <= run.Attempt {
		return nil
	}
	p := j.live.view().Progress
	p.Asked = make([]int, len(run.Seats))
	copy(p.Asked, run.Progress.Asked)
	p.Asked[seat] = n
	return j.engine.store.Update(ctx, j.fence(), parley.RunUpdate{Progress: &p})
}

// pause honours what the provider asked for, and otherwise doubles with jitter.
func (e *Engine) pause(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	base := e.limits.Backoff << (n - 1)
	return base + rand.N(base/2+1)
}

// request makes one upstream request under the silence limits.
func (j *job) request(ctx context.Context, p parley.Provider, call parley.Call) (parley.Reply, error) {
	limits := j.engine.limits
	first := limits.FirstByte
	if call.Model.Reasons() {
		first = limits.FirstByteReasoning
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := func(limit time.Duration) error {
		return &parley.Error{
			Code: parley.CodeTimeout, Message: fmt.Sprintf("%s said nothing for %s", call.Model, limit),
			Hint: "Try again, or ask another model.", Retryable: true,
		}
	}
	patience := time.AfterFunc(first, func() { cancel(silent(first)) })
	defer patience.Stop()

	started := false
	reply, err := p.Ask(ctx, call, func(d parley.Delta) {
		if limit := limits.Stall; started {
			patience.Reset(limit)
		} else if d.Text != "" || d.Reasoning != "" {
			// From here on it is the stall that counts; only text makes a draft.
			patience.Stop()
			patience = time.AfterFunc(limit, func() { cancel(silent(limit)) })
			started = true
			j.Stage(parley.Progress{Stage: call.Model.String() + " is answering", Total: len(j.live.run.Seats)})
		}
		if d.Text != "" {
			j.live.append(d.Text)
		}
	})
	if err == nil {
		return reply, nil
	}
	if cause, ok := errors.AsType[*parley.Error](context.Cause(ctx)); ok {
		return reply, cause // the silence, not the cancel that it caused
	}
	if ctx.Err() != nil {
		return reply, context.Cause(ctx)
	}
	return reply, err
}

// spend notes what a request cost. A request that was cut short reports no
// usage, so what went over the wire is counted instead.
func (j *job) spend(ctx context.Context, call parley.Call, reply parley.Reply, outcome string, briefTokens int) {
	usage := reply.Usage
	if outcome != "ok" && usage.Total() == 0 {
		if reply.Text == "" && outcome != string(parley.CodeCancelled) && outcome != string(parley.CodeTimeout) {
			return // refused before it cost anything
		}
		usage.InputTokens = briefTokens
		usage.OutputTokens, _ = j.engine.counter.Count(context.WithoutCancel(ctx), reply.Text)
		usage = usage.Priced(call.Model.Price)
	}
	run := j.live.run
	j.spends = append(j.spends, parley.Spend{
		RunID: run.ID, ThreadID: run.ThreadID, Tool: run.Tool, Model: call.Model.ModelRef,
		Attempt: run.Attempt, Usage: usage, Outcome: outcome, At: j.engine.clock.Now(),
	})
}
