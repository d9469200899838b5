package engine

import (
	"context"
	"errors"
	"time"

	"parley"
)

// recordContext bounds a write that must happen although the run's own context
// has ended. A paid answer is worth waiting for.
func recordContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 15*time.Second)
}

// endingContext is for what is written while the process ends. It may fail: the
// next process finds a dead owner's run anyway.
func endingContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 300*time.Millisecond)
}

// unstored is an ending that the store has not taken yet.
type unstored struct {
	fence  parley.Fence
	ending parley.Ending
}

// record writes down how a run ended, before anyone is told. What was spent is
// kept whatever happens.
func (e *Engine) record(ctx context.Context, l *live, j *job, result parley.Result, err error) {
	cause := context.Cause(ctx)
	lost := err != nil && (errors.Is(err, parley.ErrFenced) || errors.Is(cause, parley.ErrFenced))
	ended := err != nil && errors.Is(cause, errShutdown)

	bounded := recordContext
	if ended {
		bounded = endingContext
	}
	writing, done := bounded()
	defer done()

	switch {
	case lost:
		e.log.Info("another process has the run now", "run", l.run.ID)
		e.leave(writing, l, j)
	case ended && l.view().Mode.Outlives():
		e.release(writing, l, j)
	default:
		ending := e.ending(writing, l, result, err, cause)
		ending.Spends = j.spends
		e.end(writing, l, j, ending)
	}
}

// end stores an ending. If the store refuses, the waiting caller gets the text
// and the plain statement that it is not kept, and the store is tried again.
func (e *Engine) end(ctx context.Context, l *live, j *job, ending parley.Ending) {
	stored, err := e.store.End(ctx, l.fence, ending)
	switch {
	case errors.Is(err, parley.ErrFenced):
		e.leave(ctx, l, j)
	case err != nil:
		e.log.Error("the end of a run could not be stored", "run", l.run.ID, "error", err)
		e.remember(unstored{l.fence, ending})
		run := l.view()
		failure := *parley.AsError(err)
		failure.Message = "the answer could not be stored: " + failure.Message
		run.State, run.Err, run.Result, run.EndedAt = parley.StateFailed, &failure, &ending.Result, ending.At
		l.finish(&run)
	default:
		l.finish(&stored)
		e.discharge(l)
	}
}

func (e *Engine) remember(u unstored) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unstored[u.fence.RunID] = u
}

// storeAgain tries to store the endings that the store refused before.
func (e *Engine) storeAgain(bounded func() (context.Context, context.CancelFunc)) {
	e.mu.Lock()
	pending := make([]unstored, 0, len(e.unstored))
	for _, u := range e.unstored {
		pending = append(pending, u)
	}
	e.mu.Unlock()
	for _, u := range pending {
		ctx, done := bounded()
		_, err := e.store.End(ctx, u.fence, u.ending)
		done()
		if err != nil && !errors.Is(err, parley.ErrFenced) {
			return // it will not take the others either
		}
		e.mu.Lock()
		delete(e.unstored, u.fence.RunID)
		delete(e.live, u.fence.RunID)
		e.mu.Unlock()
	}
}

// ending decides the state: an answer, a cancel, an interruption or a failure.
func (e *Engine) ending(ctx context.Context, l *live, result parley.Result, err, cause error) parley.Ending {
	ending := parley.Ending{Result: result, At: e.clock.Now()}
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
		e.log.Warn("run failed", "run", l.run.ID, "code", ending.Err.Code, "error", err, "cause", ending.Err.Err)
	}
	if ending.Result.Content == "" {
		ending.Result.Content = l.soFar()
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

// release flushes the draft and gives the run to the next process.
func (e *Engine) release(ctx context.Context, l *live, j *job) {
	if rest, _ := l.since(j.written); rest != "" {
		if err := e.store.AppendDraft(ctx, l.fence, rest); err != nil {
			e.log.Warn("the last piece of a draft could not be kept", "run", l.run.ID, "error", err)
		}
	}
	if err := e.saveMode(ctx, l); err != nil {
		e.log.Warn("a hand-over could not be stored", "run", l.run.ID, "error", err)
	}
	if err := e.store.Release(ctx, l.fence); err != nil && !errors.Is(err, parley.ErrFenced) {
		e.log.Warn("a run could not be left for the next process; it will be found by its dead owner", "run", l.run.ID, "error", err)
	}
	e.leave(ctx, l, j)
}

// leave lets go of a run that goes on elsewhere, and keeps what it cost here.
func (e *Engine) leave(ctx context.Context, l *live, j *job) {
	for _, s := range j.spends {
		if err := e.store.RecordSpend(ctx, s); err != nil {
			e.log.Error("a cost could not be recorded", "run", s.RunID, "error", err)
		}
	}
	l.finish(nil)
	e.discharge(l)
}
