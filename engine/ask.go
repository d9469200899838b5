package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"parley"
)

// ask makes at most Limits.Requests upstream requests for one seat, those of
// earlier attempts at the run included. It asks again only before the first
// byte of text, within the run's time, and no sooner than the provider said.
func (j *job) ask(ctx context.Context, p parley.Provider, call parley.Call, seat int) (parley.Reply, []parley.Attempt, error) {
	e := j.engine
	var attempts []parley.Attempt
	deadline := j.live.run.CreatedAt.Add(e.limits.Run)
	for {
		if err := j.count(ctx, seat); err != nil {
			return parley.Reply{}, attempts, err
		}
		began := e.clock.Now()
		reply, err := j.request(ctx, p, call)
		attempt := parley.Attempt{Model: call.Model.String(), Outcome: "ok"}
		if err != nil {
			attempt.Outcome = string(parley.ErrorCode(err))
		}
		attempt.Millis = e.clock.Now().Sub(began).Milliseconds()
		attempts = append(attempts, attempt)
		reply.Usage = j.spend(ctx, call, reply, attempt.Outcome, seat)
		if err == nil {
			return reply, attempts, nil
		}
		failure := parley.AsError(err)
		failure.Provider, failure.Model, failure.Attempts = p.ID(), call.Model.Name, attempts
		if failure.Hint == "" {
			failure.Hint = "Look at what the provider says; another model may do."
			if failure.Retryable {
				failure.Hint = "Try again, or ask another model."
			}
		}
		pause := e.pause(len(attempts), failure.RetryAfter)
		tooLate := pause > e.limits.MaxPause || e.clock.Now().Add(pause).After(deadline)
		if ctx.Err() != nil || !failure.Retryable || reply.Text != "" || j.left(seat) == 0 || tooLate {
			return reply, attempts, failure
		}
		j.stage(fmt.Sprintf("%s: %s, asking again in %s", call.Model, attempt.Outcome, pause.Round(100*time.Millisecond)))
		if err := e.clock.Sleep(ctx, pause); err != nil {
			return reply, attempts, err
		}
	}
}

// stage tells people what the run waits for.
func (j *job) stage(text string) {
	j.Stage(parley.Progress{Stage: text, Total: len(j.live.run.Seats)})
}

// left is how many more requests a seat may cost.
func (j *job) left(seat int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return max(0, j.engine.limits.Requests-j.asked[seat])
}

// count counts a request that is about to be made, and writes the count down
// where the attempt's number does not say it: whoever takes the run up must not
// ask too often either.
func (j *job) count(ctx context.Context, seat int) error {
	if j.left(seat) == 0 {
		return &parley.Error{
			Code: parley.CodeRunInterrupted, Retryable: true,
			Message: fmt.Sprintf("the model was asked %d times, and the process ended before it had answered", j.engine.limits.Requests),
			Hint:    "Ask again on the same thread; what the run had so far is kept with it.",
		}
	}
	j.mu.Lock()
	j.asked[seat]++
	known := j.asked[seat] <= j.live.run.Attempt
	asked := append([]int(nil), j.asked...)
	j.mu.Unlock()
	if known {
		return nil
	}
	p := j.live.view().Progress
	p.Asked = asked
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

// request makes one upstream request, once the provider has a place for it.
func (j *job) request(ctx context.Context, p parley.Provider, call parley.Call) (parley.Reply, error) {
	slot := j.engine.upstream[p.ID()].draw()
	defer slot.give()
	if slot.queued() {
		j.stage(fmt.Sprintf("waiting for a place at %s, %d in the queue", p.ID(), j.engine.upstream[p.ID()].waiting()))
		if err := slot.wait(ctx); err != nil {
			return parley.Reply{}, err
		}
	}
	j.stage("waiting for " + call.Model.String())

	ctx, patience := j.watch(ctx, call.Model)
	defer patience.end()
	reply, err := p.Ask(ctx, call, func(d parley.Delta) {
		if d.Text == "" && d.Reasoning == "" {
			patience.alive()
			return
		}
		if patience.started() {
			j.stage(call.Model.String() + " is answering")
		}
		if d.Text != "" {
			j.live.append(d.Text)
		}
	})
	if err == nil || ctx.Err() == nil {
		return reply, err
	}
	return reply, context.Cause(ctx) // the silence or the cancel, not what it led to
}

// patience ends a request whose upstream is silent for too long. It is used
// from the one goroutine that reads the answer.
type patience struct {
	timer  *time.Timer
	limit  atomic.Int64 // a time.Duration
	stall  time.Duration
	begun  bool
	cancel context.CancelCauseFunc
}

func (j *job) watch(ctx context.Context, m parley.Model) (context.Context, *patience) {
	limits, model := j.engine.limits, m.String()
	p := &patience{stall: limits.Stall}
	p.limit.Store(int64(limits.FirstByte))
	if m.Reasons() {
		p.limit.Store(int64(limits.FirstByteReasoning))
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.timer = time.AfterFunc(time.Duration(p.limit.Load()), func() {
		p.cancel(&parley.Error{
			Code: parley.CodeTimeout, Message: fmt.Sprintf("%s said nothing for %s", model, time.Duration(p.limit.Load())),
			Hint: "Try again, or ask another model.", Retryable: true,
		})
	})
	return ctx, p
}

// alive is any sign of life. Before the answer begins it does not buy time.
func (p *patience) alive() {
	if p.begun {
		p.timer.Reset(p.stall)
	}
}

// started is a sign of the answer itself; it reports whether it is the first.
func (p *patience) started() bool {
	first := !p.begun
	if first {
		p.begun = true
		p.limit.Store(int64(p.stall))
	}
	p.timer.Reset(p.stall)
	return first
}

func (p *patience) end() {
	p.timer.Stop()
	p.cancel(nil)
}

// spend notes what a request cost and returns it. A request that was cut short
// reports no usage, so what went over the wire is counted instead.
func (j *job) spend(ctx context.Context, call parley.Call, reply parley.Reply, outcome string, seat int) parley.Usage {
	usage, run := reply.Usage, j.live.run
	if usage.Total() == 0 {
		unpaid := reply.Text == "" && outcome != "ok" &&
			outcome != string(parley.CodeCancelled) && outcome != string(parley.CodeTimeout)
		if unpaid {
			return usage // refused before it cost anything
		}
		usage.InputTokens = run.Seats[seat].BriefTokens
		usage.OutputTokens, _ = j.engine.counter.Count(context.WithoutCancel(ctx), reply.Text)
	}
	usage = usage.Priced(call.Model.Price)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spends = append(j.spends, parley.Spend{
		RunID: run.ID, ThreadID: run.ThreadID, Tool: run.Tool, Model: call.Model.ModelRef,
		Attempt: run.Attempt, Usage: usage, Outcome: outcome, At: j.engine.clock.Now(),
	})
	return usage
}
