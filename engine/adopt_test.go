package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"parley"
	"parley/engine"
	"parley/fakeai"
	"parley/provider/openai"
)

// async starts a run that outlives its caller, and waits until it streams.
func (b *bundle) async(p *process, hold chan struct{}) parley.Run {
	b.t.Helper()
	b.up.Enqueue("", fakeai.Script{Text: "first second third", Chunks: 3, HoldAfter: 1, HoldChunks: hold})
	req := question("background?")
	req.Mode = parley.ModeAsync
	run, err := p.Start(b.t.Context(), req)
	if err != nil {
		b.t.Fatal(err)
	}
	waitDraft(b.t, p, run.ID, "first")
	return run
}

func TestOrderlyEndLeavesAsyncRunsToTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	run := b.async(p, make(chan struct{}))
	p.end()
	await(t, b.request(1).Gone(), "the upstream connection to close")

	next := b.start()
	got := next.await(run.ID)
	if got.State != parley.StateCompleted || got.Result.Turn != 1 {
		t.Fatalf("%s %v", got.State, got.Err)
	}
	first, second := b.request(1), b.request(2)
	if first.Text() != second.Text() {
		t.Errorf("the second request differs:\n%s\n---\n%s", first.Text(), second.Text())
	}
}

func TestOrderlyEndInterruptsWaitedRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	b.up.Enqueue("", fakeai.Script{Text: "half an answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	run, err := p.Start(t.Context(), question("waited?"))
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "half")
	p.end()
	got := b.start().await(run.ID)
	if got.State != parley.StateInterrupted || got.Err.Code != parley.CodeRunInterrupted || !strings.HasPrefix(got.Result.Content, "half") {
		t.Errorf("%s %v %+v", got.State, got.Err, got.Result)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests: nobody waits for the second", n)
	}
}

func TestOnlyTheSameAccountTakesARunUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	run := b.async(p, make(chan struct{}))
	p.end()

	var mu sync.Mutex
	now := time.Now()
	stranger := b.start(func(c *engine.Config) {
		c.Providers = []parley.Provider{openai.New(openai.Config{ID: "openai", BaseURL: b.up.OpenAI(), Key: "sk-another"})}
		c.Clock = clock(func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	})
	view, err := stranger.Look(t.Context(), run.ID)
	if err != nil || view.State != parley.StateQueued {
		t.Fatalf("%s %v", view.State, err)
	}
	mu.Lock()
	now = now.Add(11 * time.Minute)
	mu.Unlock()
	got := stranger.await(run.ID)
	if got.State != parley.StateInterrupted || !strings.HasPrefix(got.Result.Content, "first") {
		t.Errorf("%s, content %q", got.State, got.Result.Content)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests, want 1", n)
	}
}

func TestARunIsLeftAtMostTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	run := b.async(p, make(chan struct{}))
	for n := 2; n <= 3; n++ {
		b.up.Enqueue("", fakeai.Script{Text: "again and again", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
		p.end()
		p = b.start()
		b.request(n)
		waitDraft(t, p, run.ID, "again")
	}
	p.end()
	got := b.start().await(run.ID)
	if got.State != parley.StateInterrupted || got.Err.Code != parley.CodeRunInterrupted || !strings.HasPrefix(got.Result.Content, "again") {
		t.Errorf("%s %v %+v", got.State, got.Err, got.Result)
	}
	if n := len(b.up.Requests()); n != 3 {
		t.Errorf("%d upstream requests, want 3", n)
	}
}

func TestThreeRequestsCountOverAllAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	b.up.Enqueue("", fakeai.Script{Status: 503}, fakeai.Script{Text: "half an answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	req := question("background?")
	req.Mode = parley.ModeAsync
	run, err := p.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "half")
	b.up.Enqueue("", fakeai.Script{Status: 503}, fakeai.Script{Text: "one request too many"})
	p.end()
	got := b.start().await(run.ID)
	if got.State != parley.StateFailed || got.Err.Code != parley.CodeUpstreamError {
		t.Errorf("%s %v", got.State, got.Err)
	}
	if n := len(b.up.Requests()); n != 3 {
		t.Errorf("%d upstream requests, want 3", n)
	}
}

func TestCancelFromAnotherProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.start()
	run := b.async(owner, make(chan struct{}))
	other := b.start()
	got, err := other.Cancel(t.Context(), run.ID)
	if err != nil || got.State != parley.StateCancelled {
		t.Fatalf("%s %v", got.State, err)
	}
	await(t, b.request(1).Gone(), "the upstream connection to close")
}

func TestAnotherProcessSeesDraftAndEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	owner := b.start(func(c *engine.Config) { c.Limits.DraftBytes = 1 })
	run := b.async(owner, hold)
	other := b.start()
	for {
		view, err := other.Look(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(view.Draft, "first") {
			break
		}
		if err := other.store.Changed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(hold)
	if got := other.await(run.ID); got.Result.Content != "first second third" {
		t.Errorf("content %q", got.Result.Content)
	}
	if draft, err := other.store.Draft(t.Context(), run.ID); err != nil || draft != "" {
		t.Errorf("the draft outlived its run: %q %v", draft, err)
	}
}

func TestLeftRunsAreTakenByWhoStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	terminal := b.start(func(c *engine.Config) { c.Adopt = false })
	run, err := terminal.Leave(t.Context(), question("later?"))
	if err != nil || run.State != parley.StateQueued {
		t.Fatalf("%s %v", run.State, err)
	}
	terminal.end()
	if got := b.start().await(run.ID); got.State != parley.StateCompleted {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

func TestHandOverSurvivesTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	b.up.Enqueue("", fakeai.Script{Text: "long long answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	run, err := p.Start(t.Context(), question("long?"))
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "long")
	if err := p.HandOver(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	p.end()
	if got := b.start().await(run.ID); got.State != parley.StateCompleted {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

func TestAwaitDoesNotTieTheRunToItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	b.up.Enqueue("", fakeai.Script{Hold: hold})
	p := b.start()
	starting, gone := context.WithCancel(t.Context())
	run, err := p.Start(starting, question("still?"))
	if err != nil {
		t.Fatal(err)
	}
	gone()
	if _, err := p.Await(starting, run.ID); err == nil {
		t.Error("Await outlived its context")
	}
	close(hold)
	if got := p.await(run.ID); got.State != parley.StateCompleted {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

// clock is a clock whose time the test sets; its sleeps are real.
type clock func() time.Time

func (c clock) Now() time.Time { return c() }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	return engine.WallClock{}.Sleep(ctx, d)
}
