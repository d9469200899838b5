package engine

import (
	"context"
	"errors"
	"time"

	"parley"
)

// recordContext bounds a write that must happen although the run's own context
// has ended.
func recordContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 15*time.Second)
}

// record writes down how a run ended, before anyone is told. What was spent is
// kept whatever happens.
func (e *Engine) record(ctx context.Context, l *live, j *job, result parley.Result, err error) {
	writing, done := recordContext()
	defer done()

	cause := context.Cause(ctx)
	switch {
	case err != nil && (errors.Is(err, parley.ErrFenced) || errors.Is(cause, parley.ErrFenced)):
		e.log.Info("another process has the run now", "run", l.id)
		e.keepSpends(writing, j)
		l.finish(nil, nil)
		return
	case err != nil && errors.Is(cause, errShutdown) && l.view().Mode.Outlives():
		e.leaveBehind(writing, l, j)
		return
	}

	ending := e.ending(writing, l, result, err, cause)
	ending.Spends = j.spends
	stored, endErr := e.end(writing, l.run.Fence(), ending)
	switch {
	case errors.Is(endErr, parley.ErrFenced):
		e.keepSpends(writing, j)
		l.finish(nil, nil)
	case endErr != nil:
		e.log.Error("the end of a run could not be stored", "run", l.id, "error", endErr)
		l.finish(e.unstored(l, ending, endErr), endErr)
	default:
		l.finish(&stored, nil)
	}
}

// ending decides the state: an answer, a cancel, an interruption or a failure.
func (e *Engine) ending(ctx context.Context, l *live, result parley.Result, err, cause error) parley.Ending {
	ending := parley.Ending{Result: result, At: e.clock.Now()}
	draft, _ := l.since(0)
	switch {
	case err == nil:
		ending.State = parley.StateCompleted
		if len(result.Answers) > 0 {
			ending.Turn = e.turn(ctx, l.run, result.Answers)
		}
		return ending
	case errors.Is(cause, errCancelled):
		ending.State = parley.StateCancelled
		ending.Err = &parley.Error{Code: parley.CodeCancelled, Message: "the run was cancelled"}
	case errors.Is(cause, errShutdown):
		ending.State = parley.StateInterrupted
		ending.Err = &parley.Error{
			Code: parley.CodeRunInterrupted, Message: "the process ended before the answer was complete", Retryable: true,
			Hint: "Ask again on the same thread; nothing that was answered before is lost.",
		}
	case errors.Is(cause, errRunLimit):
		ending.State = parley.StateFailed
		ending.Err = parley.Errorf(parley.CodeTimeout, "the run took longer than %s", e.limits.Run).
			WithHint("Ask for less at once, or use a faster model.")
	default:
		ending.State, ending.Err = parley.StateFailed, parley.AsError(err)
		e.log.Warn("run failed", "run", l.id, "code", ending.Err.Code, "error", err, "cause", ending.Err.Err)
	}
	if ending.Result.Content == "" {
		ending.Result.Content = draft
	}
	if len(l.run.Seats) > 0 && ending.Result.Model == (parley.ModelRef{}) {
		ending.Result.Model = l.run.Seats[0].Decision.Chosen
	}
	return ending
}

// turn makes the turn to commit, with its tokens counted once and for all.
func (e *Engine) turn(ctx context.Context, run parley.Run, answers []parley.Answer) *parley.Turn {
	count := func(text string) int {
		n, err := e.counter.Count(ctx, text)
		if err != nil {
			return len(text) / 3 // too many rather than too few
		}
		return n
	}
	t := &parley.Turn{
		ThreadID: run.ThreadID, RunID: run.ID, Tool: run.Tool,
		Question: run.Request.Prompt, Stamp: run.Request.Stamp,
		AskedAt: run.CreatedAt, EndedAt: e.clock.Now(),
	}
	if len(run.Seats) > 0 {
		t.QuestionTokens = run.Seats[0].QuestionTokens
	} else {
		t.QuestionTokens = count(run.Request.Prompt)
	}
	for _, a := range answers {
		a.Tokens = count(a.Text)
		t.Answers = append(t.Answers, a)
	}
	return t
}

// end writes the ending, and tries again for a while when the store says that
// it may help: a paid answer is worth waiting for.
func (e *Engine) end(ctx context.Context, f parley.Fence, ending parley.Ending) (parley.Run, error) {
	for n := 1; ; n++ {
		stored, err := e.store.End(ctx, f, ending)
		if err == nil || errors.Is(err, parley.ErrFenced) || !parley.AsError(err).Retryable || n >= 4 {
			return stored, err
		}
		if e.clock.Sleep(ctx, time.Duration(n)*250*time.Millisecond) != nil {
			return stored, err
		}
	}
}

// unstored is what the waiting caller gets when the store refused the answer:
// the text, and the plain statement that it is not kept.
func (e *Engine) unstored(l *live, ending parley.Ending, err error) *parley.Run {
	run := l.view()
	failure := *parley.AsError(err)
	failure.Message = "the answer could not be stored: " + failure.Message
	run.State, run.Err, run.Result, run.EndedAt = parley.StateFailed, &failure, &ending.Result, ending.At
	return &run
}

// leaveBehind flushes the draft and gives the run to the next process.
func (e *Engine) leaveBehind(ctx context.Context, l *live, j *job) {
	e.keepSpends(ctx, j)
	if rest, _ := l.since(j.written); rest != "" {
		if err := e.store.AppendDraft(ctx, l.run.Fence(), rest); err != nil {
			e.log.Warn("the last piece of a draft could not be kept", "run", l.id, "error", err)
		}
	}
	if err := e.store.Release(ctx, l.run.Fence()); err != nil && !errors.Is(err, parley.ErrFenced) {
		e.log.Warn("a run could not be left for the next process; it will be found by its dead owner", "run", l.id, "error", err)
	}
	l.finish(nil, nil)
}

func (e *Engine) keepSpends(ctx context.Context, j *job) {
	for _, s := range j.spends {
		if err := e.store.RecordSpend(ctx, s); err != nil {
			e.log.Error("a cost could not be recorded", "run", s.RunID, "error", err)
		}
	}
}
