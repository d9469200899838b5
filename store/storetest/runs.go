package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley"
)

func testBegin(t *testing.T, home Home) {
	open := home(t)
	s := open()
	thread := newThread("begun")
	want := newRun(s, thread.ID)
	got, err := s.Begin(t.Context(), want, &thread)
	must(t, err)
	if got.HeartbeatAt.IsZero() {
		t.Error("a new run has no heartbeat")
	}
	want.HeartbeatAt = got.HeartbeatAt
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as begun (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, load(t, open(), got.ID)); diff != "" {
		t.Errorf("as another store reads it (-want +got):\n%s", diff)
	}
}

func testBeginCancelled(t *testing.T, home Home) {
	s := home(t)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	thread := newThread("never")
	_, err := s.Begin(ctx, newRun(s, thread.ID), &thread)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	_, err = s.Thread(t.Context(), thread.ID)
	wantCode(t, err, parley.CodeContinuationNotFound)
}

func testIdempotency(t *testing.T, home Home) {
	s := home(t)()
	keyed := func(r *parley.Run) { r.Request.IdempotencyKey = "k" }
	first := beginWith(t, s, keyed)
	ended, err := s.End(t.Context(), first.Fence(), answer("q", epoch))
	must(t, err)

	thread := newThread("second")
	run := newRun(s, thread.ID)
	keyed(&run)
	got, err := s.Begin(t.Context(), run, &thread)
	must(t, err)
	if diff := cmp.Diff(ended, got); diff != "" {
		t.Errorf("the earlier run (-want +got):\n%s", diff)
	}
	_, err = s.Thread(t.Context(), thread.ID)
	wantCode(t, err, parley.CodeContinuationNotFound)

	other := beginWith(t, s, func(r *parley.Run) { keyed(r); r.Principal = "bob" })
	if other.ID == first.ID {
		t.Error("another principal got the run")
	}
	for range 2 { // without a key each call is a run of its own
		begin(t, s)
	}
}

func testIdempotencyRace(t *testing.T, home Home) {
	open := home(t)
	stores := []parley.Store{open(), open()}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		got   = map[string]bool{}
	)
	for i := range 8 {
		group.Go(func() {
			s := stores[i%2]
			thread := newThread(parley.NewThreadID())
			run := newRun(s, thread.ID)
			run.Request.IdempotencyKey = "k"
			stored, err := s.Begin(t.Context(), run, &thread)
			if err != nil {
				t.Errorf("begin: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[stored.ID] = true
		})
	}
	group.Wait()
	runs, err := stores[0].Runs(t.Context(), parley.RunQuery{Principal: principal})
	must(t, err)
	if len(got) != 1 || len(runs) != 1 {
		t.Errorf("one key made the runs %v, stored are %v", got, ids(runs))
	}
}

func testRuns(t *testing.T, home Home) {
	s := home(t)()
	var runs []parley.Run
	for i := range 12 {
		runs = append(runs, beginWith(t, s, func(r *parley.Run) {
			r.CreatedAt = epoch.Add(time.Duration(i/2) * time.Second) // pairs share a time
		}))
	}
	beginWith(t, s, func(r *parley.Run) { r.Principal = "mallory" })
	_, err := s.End(t.Context(), runs[11].Fence(), answer("q", epoch))
	must(t, err)

	list := func(q parley.RunQuery) []string {
		t.Helper()
		found, err := s.Runs(t.Context(), q)
		must(t, err)
		return ids(found)
	}
	got := list(parley.RunQuery{Principal: principal})
	if len(got) != 10 || got[0] != runs[11].ID || got[1] != runs[10].ID || got[9] != runs[2].ID {
		t.Errorf("got %v, want the ten newest, newest first", got)
	}
	if got := list(parley.RunQuery{Principal: principal, Live: true, Limit: 1}); len(got) != 1 || got[0] != runs[10].ID {
		t.Errorf("live: got %v, want %s", got, runs[10].ID)
	}
	if got := list(parley.RunQuery{Principal: principal, ThreadID: runs[3].ThreadID}); len(got) != 1 || got[0] != runs[3].ID {
		t.Errorf("of a thread: got %v, want %s", got, runs[3].ID)
	}
}

func testRunNotFound(t *testing.T, home Home) {
	s := home(t)()
	_, err := s.Run(t.Context(), "run_none")
	wantCode(t, err, parley.CodeRunNotFound)
	_, err = s.Draft(t.Context(), "run_none")
	wantCode(t, err, parley.CodeRunNotFound)
	_, err = s.Checkpoints(t.Context(), "run_none")
	wantCode(t, err, parley.CodeRunNotFound)
	wantCode(t, s.RequestCancel(t.Context(), "run_none"), parley.CodeRunNotFound)
}

func testEnd(t *testing.T, home Home) {
	open := home(t)
	s := open()
	run := begin(t, s)
	must(t, s.AppendDraft(t.Context(), run.Fence(), "Ray"))
	must(t, s.Checkpoint(t.Context(), run.Fence(), "phase", []byte("1")))
	e := answer("Why?", epoch.Add(time.Minute))
	e.State = parley.StateCompletedWithErrors
	e.Err = &parley.Error{Code: parley.CodeUpstreamError, Message: "one was late", Retryable: true}
	e.Spends = []parley.Spend{{Tool: "chat", Attempt: 1, Outcome: "ok", At: epoch}}
	got, err := s.End(t.Context(), run.Fence(), e)
	must(t, err)

	want := run
	want.State, want.EndedAt, want.Err = e.State, e.At, e.Err
	result := e.Result
	result.Turn, result.Messages = 1, 2
	want.Result = &result
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as ended (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, load(t, open(), run.ID)); diff != "" {
		t.Errorf("as another store reads it (-want +got):\n%s", diff)
	}

	turns, err := s.Turns(t.Context(), run.ThreadID, parley.Span{From: 1, Through: 1})
	must(t, err)
	turn := *e.Turn
	turn.ThreadID, turn.RunID, turn.Number, turn.EndedAt, turn.TokensThrough = run.ThreadID, run.ID, 1, e.At, turnTokens
	if diff := cmp.Diff([]parley.Turn{turn}, turns); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	if draft, err := s.Draft(t.Context(), run.ID); err != nil || draft != "" {
		t.Errorf("after the end the draft is %q, %v", draft, err)
	}
	if steps, err := s.Checkpoints(t.Context(), run.ID); err != nil || len(steps) > 0 {
		t.Errorf("after the end the checkpoints are %v, %v", steps, err)
	}
}

func testEndWithoutTurn(t *testing.T, home Home) {
	s := home(t)()
	first := begin(t, s)
	_, err := ask(t.Context(), s, first.ThreadID, "q")
	must(t, err)
	got, err := s.End(t.Context(), first.Fence(), parley.Ending{
		State: parley.StateFailed, Result: parley.Result{Content: "half"},
		Err: parley.Errorf(parley.CodeTimeout, "late"), At: epoch,
	})
	must(t, err)
	if got.Result.Turn != 0 || got.Result.Messages != 2 || got.Result.Content != "half" {
		t.Errorf("got result %+v, want no turn, the thread's 2 messages and the content", got.Result)
	}
	thread, err := s.Thread(t.Context(), first.ThreadID)
	must(t, err)
	if thread.Turns != 1 {
		t.Errorf("the thread has %d turns, want 1: a failed question is none", thread.Turns)
	}
	if _, err := s.End(t.Context(), first.Fence(), parley.Ending{State: parley.StateRunning}); err == nil {
		t.Error("a run ended in a live state")
	}
}

func testUpdate(t *testing.T, home Home) {
	s := home(t)()
	want := beginWith(t, s, func(r *parley.Run) { r.State = parley.StateQueued })
	running, handed, progress := parley.StateRunning, parley.ModeHandedOver, parley.Progress{Stage: "done", Done: 3, Total: 3}
	for _, u := range []parley.RunUpdate{{State: &running}, {Mode: &handed}, {Progress: &progress}, {}} {
		must(t, s.Update(t.Context(), want.Fence(), u))
	}
	want.State, want.Mode, want.Progress = running, handed, progress
	if diff := cmp.Diff(want, load(t, s, want.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	failed := parley.StateFailed
	if err := s.Update(t.Context(), want.Fence(), parley.RunUpdate{State: &failed}); err == nil {
		t.Error("an update ended the run")
	}
}

func testHeartbeat(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	mine, theirs := begin(t, s), begin(t, other)
	now := mine.HeartbeatAt.Add(time.Hour)
	must(t, s.Heartbeat(t.Context(), now))
	if got := load(t, s, mine.ID).HeartbeatAt; !got.Equal(now) {
		t.Errorf("my run's heartbeat is %v, want %v", got, now)
	}
	if got := load(t, s, theirs.ID).HeartbeatAt; !got.Equal(theirs.HeartbeatAt) {
		t.Errorf("another's run's heartbeat moved to %v", got)
	}
}

func testPrune(t *testing.T, home Home) {
	s := home(t)()
	day := 24 * time.Hour
	end := func(at time.Time) parley.Run {
		run, err := s.End(t.Context(), begin(t, s).Fence(), answer("q", at))
		must(t, err)
		return run
	}
	old, recent, running := end(epoch), end(epoch.Add(9*day)), begin(t, s)
	must(t, s.Prune(t.Context(), parley.Retention{}))
	load(t, s, old.ID)

	must(t, s.Prune(t.Context(), parley.Retention{RunsEndedBefore: epoch.Add(day)}))
	_, err := s.Run(t.Context(), old.ID)
	wantCode(t, err, parley.CodeRunNotFound)
	load(t, s, recent.ID)
	turns, err := s.Turns(t.Context(), old.ThreadID, parley.Span{From: 1, Through: 1})
	if err != nil || len(turns) != 1 {
		t.Errorf("the turn went with its run: %v, %v", turns, err)
	}

	must(t, s.Prune(t.Context(), parley.Retention{ThreadsIdleBefore: epoch.Add(day)}))
	_, err = s.Thread(t.Context(), old.ThreadID)
	wantCode(t, err, parley.CodeContinuationNotFound)
	for _, kept := range []parley.Run{recent, running} {
		load(t, s, kept.ID)
		_, err := s.Thread(t.Context(), kept.ThreadID)
		must(t, err)
	}
}

func testSpends(t *testing.T, home Home) {
	s := home(t)()
	run := begin(t, s)
	_, err := s.End(t.Context(), run.Fence(), answer("q", epoch))
	must(t, err)
	cost := int64(12)
	must(t, s.RecordSpend(t.Context(), parley.Spend{
		RunID: run.ID, ThreadID: run.ThreadID, Tool: "chat", Attempt: 1,
		Usage: parley.Usage{InputTokens: 1, CostMicros: &cost}, Outcome: "ok", At: epoch,
	}))
}

func testClosed(t *testing.T, home Home) {
	s := home(t)()
	run := begin(t, s)
	must(t, s.Close())
	_, err := s.Begin(t.Context(), newRun(s, run.ThreadID), nil)
	wantCode(t, err, parley.CodeStoreUnavailable)
	_, err = s.Run(t.Context(), run.ID)
	wantCode(t, err, parley.CodeStoreUnavailable)
	wantCode(t, s.Changed(t.Context()), parley.CodeStoreUnavailable)
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func testChanged(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	for name, writer := range map[string]parley.Store{"Own": s, "Other": other} {
		want := begin(t, s)
		ended := make(chan error, 1)
		go func() {
			if writer == s {
				_, err := writer.End(t.Context(), want.Fence(), answer("q", epoch))
				ended <- err
				return
			}
			// The other asks this one to cancel, and this one sees it.
			ended <- writer.RequestCancel(t.Context(), want.ID)
		}()
		for {
			got := load(t, s, want.ID)
			if got.State.Ended() || got.CancelRequested {
				break
			}
			if err := s.Changed(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		must(t, <-ended)
	}
	load(t, s, run.ID)
}

func testChangedEnds(t *testing.T, home Home) {
	s := home(t)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if err := s.Changed(ctx); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			return
		}
	}
	t.Error("Changed does not notice that its context has ended")
}
