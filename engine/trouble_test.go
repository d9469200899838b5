package engine_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"parley"
	"parley/engine"
	"parley/fakeai"
	"parley/provider/openai"
)

// troubled is a store whose methods fail or wait when the test says so.
type troubled struct {
	parley.Store

	appendDraft func(context.Context) error
	begin       func()
	end         func(parley.Ending) error
	checkpoints func() error
	update      func() error
}

func (s *troubled) AppendDraft(ctx context.Context, f parley.Fence, text string) error {
	if s.appendDraft != nil {
		if err := s.appendDraft(ctx); err != nil {
			return err
		}
	}
	return s.Store.AppendDraft(ctx, f, text)
}

func (s *troubled) Begin(ctx context.Context, r parley.Run, t *parley.Thread) (parley.Run, error) {
	if s.begin != nil {
		s.begin()
	}
	return s.Store.Begin(ctx, r, t)
}

func (s *troubled) End(ctx context.Context, f parley.Fence, e parley.Ending) (parley.Run, error) {
	if s.end != nil {
		if err := s.end(e); err != nil {
			return parley.Run{}, err
		}
	}
	return s.Store.End(ctx, f, e)
}

func (s *troubled) Checkpoints(ctx context.Context, id string) (map[string][]byte, error) {
	if s.checkpoints != nil {
		if err := s.checkpoints(); err != nil {
			return nil, err
		}
	}
	return s.Store.Checkpoints(ctx, id)
}

func (s *troubled) Update(ctx context.Context, f parley.Fence, u parley.RunUpdate) error {
	if s.update != nil {
		if err := s.update(); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, f, u)
}

func on(s *troubled) func(*engine.Config) {
	return func(c *engine.Config) { s.Store, c.Store = c.Store, s }
}

func full() error {
	return &parley.Error{Code: parley.CodeStoreUnavailable, Message: "the disk is full", Retryable: true}
}

// provider is one whose answers the test writes itself.
type provider func(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error)

func (provider) ID() string          { return "openai" }
func (provider) Fingerprint() string { return "test" }
func (p provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	return p(ctx, call, stream)
}

func asking(p provider) func(*engine.Config) {
	return func(c *engine.Config) { c.Providers = []parley.Provider{p} }
}

// long is more than one write of a draft.
var long = strings.Repeat("word ", 5000)

func TestDraftsThatCannotBeWrittenDoNotHoldTheAnswerUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tried := make(chan struct{})
	var once sync.Once
	var calls atomic.Int64
	p := b.start(on(&troubled{appendDraft: func(context.Context) error {
		calls.Add(1)
		once.Do(func() { close(tried) })
		return full()
	}}), asking(func(_ context.Context, _ parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
		stream(parley.Delta{Text: long})
		<-tried
		return parley.Reply{Text: long, FinishReason: "stop"}, nil
	}))
	if run := p.ask(question("q")); run.State != parley.StateCompleted || run.Result.Content != long {
		t.Errorf("%s %v", run.State, run.Err)
	}
	if n := calls.Load(); n > 3 {
		t.Errorf("the store was asked %d times for one draft", n)
	}
}

func TestCancelWhileADraftIsBeingWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	writing := make(chan struct{}, 1)
	p := b.start(on(&troubled{appendDraft: func(ctx context.Context) error {
		writing <- struct{}{}
		<-ctx.Done() // another process has the lock
		return ctx.Err()
	}}), asking(func(ctx context.Context, _ parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
		stream(parley.Delta{Text: long})
		<-ctx.Done()
		return parley.Reply{Text: long}, context.Cause(ctx)
	}))
	run, err := p.Start(t.Context(), question("q"))
	if err != nil {
		t.Fatal(err)
	}
	await(t, writing, "the draft")
	if got, err := p.Cancel(t.Context(), run.ID); err != nil || got.State != parley.StateCancelled || got.Result.Content != long {
		t.Errorf("%s %v", got.State, err)
	}
}

func TestWhatACancelledRequestCostIsRecorded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spends := make(chan parley.Spend, 3)
	b.up.Enqueue("", fakeai.Script{Text: "one two three four", Chunks: 4, HoldAfter: 2, HoldChunks: make(chan struct{})})
	p := b.start(on(&troubled{end: func(e parley.Ending) error {
		for _, s := range e.Spends {
			spends <- s
		}
		return nil
	}}))
	run, err := p.Start(t.Context(), question(strings.Repeat("a long question ", 2000)))
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "one")
	got, err := p.Cancel(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	s := <-spends
	if s.Usage.InputTokens < 6000 || s.Usage.OutputTokens == 0 || s.Usage.CostMicros == nil || *s.Usage.CostMicros == 0 {
		t.Errorf("spend %+v", s.Usage)
	}
	if got.Result.Usage.Total() != s.Usage.Total() {
		t.Errorf("the run says %+v", got.Result.Usage)
	}
}

func TestAnAnswerWithoutUsageIsEstimated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("", fakeai.Script{Text: "four words of text", NoUsage: true})
	run := b.start().ask(question("how much?"))
	if u := run.Result.Usage; u.InputTokens == 0 || u.OutputTokens == 0 || u.CostMicros == nil || *u.CostMicros == 0 {
		t.Errorf("usage %+v", u)
	}
}

func TestNoFourthRequestAfterATakeUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	b.up.Enqueue("", fakeai.Script{Status: 503}, fakeai.Script{Status: 503},
		fakeai.Script{Text: "half an answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	req := question("background?")
	req.Mode = parley.ModeAsync
	run, err := p.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "half")
	p.end()
	got := b.start().await(run.ID)
	if got.Err == nil || got.Err.Code != parley.CodeRunInterrupted || !strings.HasPrefix(got.Result.Content, "half") {
		t.Errorf("%s %v %+v", got.State, got.Err, got.Result)
	}
	if n := len(b.up.Requests()); n != 3 {
		t.Errorf("%d upstream requests for one question", n)
	}
}

func TestOneSessionCannotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	defer close(hold)
	p := b.start(func(c *engine.Config) { c.Limits.Runs, c.Limits.PerSession = 4, 1 },
		asking(func(ctx context.Context, call parley.Call, _ func(parley.Delta)) (parley.Reply, error) {
			if strings.Contains(call.Messages[0].Parts[0].Text, "hog") {
				select {
				case <-hold:
				case <-ctx.Done():
				}
			}
			return parley.Reply{Text: "ok", FinishReason: "stop"}, nil
		}))
	for range 6 {
		if _, err := p.Start(t.Context(), question("hog")); err != nil {
			t.Fatal(err)
		}
	}
	req := question("polite")
	req.Caller.Session = "other"
	if run := p.ask(req); run.State != parley.StateCompleted {
		t.Errorf("%s %v", run.State, run.Err)
	}
}

func TestARunThatWorksIsNotQueued(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := make(chan struct{}), make(chan struct{})
	ids := make(chan string, 1)
	var begun atomic.Int64
	var p *process
	p = b.start(on(&troubled{begin: func() {
		if begun.Add(1) == 2 { // the place falls free while the second is written down as queued
			close(first)
			p.await(<-ids)
		}
	}}), func(c *engine.Config) { c.Limits.Runs = 1 },
		asking(func(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
			hold := first
			if strings.Contains(call.Messages[0].Parts[0].Text, "two") {
				hold = second
				stream(parley.Delta{Text: "streaming"})
			}
			select {
			case <-hold:
			case <-ctx.Done():
			}
			return parley.Reply{Text: "ok", FinishReason: "stop"}, nil
		}))
	run, err := p.Start(t.Context(), question("one"))
	if err != nil {
		t.Fatal(err)
	}
	ids <- run.ID
	if run, err = p.Start(t.Context(), question("two")); err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "streaming")
	view, err := p.Look(t.Context(), run.ID)
	if err != nil || view.State != parley.StateRunning {
		t.Errorf("a run that streams is %s (%v)", view.State, err)
	}
	stored, err := p.store.Run(t.Context(), run.ID)
	if err != nil || stored.State != parley.StateRunning {
		t.Errorf("the store says %s (%v)", stored.State, err)
	}
	close(second)
	p.await(run.ID)
}

func TestAHiccupWhileTakingUpLosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	terminal := b.start(func(c *engine.Config) { c.Adopt = false })
	run, err := terminal.Leave(t.Context(), question("left"))
	if err != nil {
		t.Fatal(err)
	}
	terminal.end()
	var reads, ends atomic.Int64
	p := b.start(on(&troubled{checkpoints: func() error {
		if reads.Add(1) == 1 {
			return full()
		}
		return nil
	}, end: func(parley.Ending) error {
		if ends.Add(1) == 1 {
			return full()
		}
		return nil
	}}))
	if got := p.await(run.ID); got.Attempt != 1 {
		t.Errorf("attempt %d, want 1: %s %v", got.Attempt, got.State, got.Err)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests", n)
	}
}

// The store refuses the answer: the caller has it and knows that it is not kept,
// and it is kept as soon as the store can.
func TestAnAnswerThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var sick atomic.Bool
	sick.Store(true)
	p := b.start(on(&troubled{end: func(parley.Ending) error {
		if sick.Load() {
			return full()
		}
		return nil
	}}), func(c *engine.Config) { c.Limits.Heartbeat = time.Millisecond })
	run := p.ask(question("precious?"))
	if run.State != parley.StateFailed || run.Err.Code != parley.CodeStoreUnavailable || run.Result.Content != "ECHO: precious?" {
		t.Fatalf("%s %v %+v", run.State, run.Err, run.Result)
	}
	sick.Store(false)
	other := b.start()
	if got := other.await(run.ID); got.State != parley.StateCompleted || got.Result.Turn != 1 {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

func TestAPanicIsOneRunsProblem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start(asking(func(_ context.Context, call parley.Call, _ func(parley.Delta)) (parley.Reply, error) {
		if strings.Contains(call.Messages[0].Parts[0].Text, "bad") {
			panic("a vendor's novelty")
		}
		return parley.Reply{Text: "ok", FinishReason: "stop"}, nil
	}))
	if run := p.ask(question("bad")); run.State != parley.StateFailed || run.Err.Code != parley.CodeInternal {
		t.Errorf("%s %v", run.State, run.Err)
	}
	if run := p.ask(question("good")); run.State != parley.StateCompleted {
		t.Errorf("%s %v", run.State, run.Err)
	}
}

func TestTheDraftOfTheFirstAttemptSurvivesTheSecond(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	run := b.async(p, make(chan struct{}))
	p.end()
	b.up.Enqueue("", fakeai.Script{Status: 401})
	if got := b.start().await(run.ID); got.State != parley.StateFailed || !strings.HasPrefix(got.Result.Content, "first") {
		t.Errorf("%s %v %q", got.State, got.Err, got.Result.Content)
	}
}

func TestACancelThatTheOwnerDidNotLiveToSee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start(func(c *engine.Config) { c.Limits.CancelPoll = 1 << 40 })
	run := b.async(p, make(chan struct{}))
	stranger := b.start(func(c *engine.Config) { c.Providers = nil })
	if err := stranger.RequestCancel(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	p.end()
	if got := stranger.await(run.ID); got.State != parley.StateCancelled || got.Result.Model.Name != model {
		t.Errorf("%s %v %+v", got.State, got.Err, got.Result)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests", n)
	}
}

func TestHandOverHoldsEvenIfTheStoreIsLate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var sick atomic.Bool
	sick.Store(true)
	told := make(chan struct{}, 1)
	p := b.start(on(&troubled{update: func() error {
		if sick.Load() {
			return full()
		}
		select {
		case told <- struct{}{}:
		default:
		}
		return nil
	}}), func(c *engine.Config) { c.Limits.Heartbeat = time.Millisecond })
	b.up.Enqueue("", fakeai.Script{Text: "half an answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	run, err := p.Start(t.Context(), question("long?"))
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "half")
	if err := p.HandOver(t.Context(), run.ID); err == nil {
		t.Error("the store's trouble was not reported")
	}
	if view, err := p.Look(t.Context(), run.ID); err != nil || view.Mode != parley.ModeHandedOver {
		t.Errorf("%s %v", view.Mode, err)
	}
	sick.Store(false)
	await(t, told, "the store to be told")
	p.end()
	if got := b.start().await(run.ID); got.State != parley.StateCompleted {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

// The process ends before the store could be told of a hand-over: it is told then.
func TestHandOverJustBeforeTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var sick atomic.Bool
	sick.Store(true)
	p := b.start(on(&troubled{update: func() error {
		if sick.Load() {
			return full()
		}
		return nil
	}}), func(c *engine.Config) { c.Limits.Heartbeat = time.Hour })
	b.up.Enqueue("", fakeai.Script{Text: "half an answer", Chunks: 3, HoldAfter: 1, HoldChunks: make(chan struct{})})
	run, err := p.Start(t.Context(), question("long?"))
	if err != nil {
		t.Fatal(err)
	}
	waitDraft(t, p, run.ID, "half")
	if err := p.HandOver(t.Context(), run.ID); err == nil {
		t.Error("the store's trouble was not reported")
	}
	sick.Store(false)
	p.end()
	if got := b.start().await(run.ID); got.State != parley.StateCompleted {
		t.Errorf("%s %v", got.State, got.Err)
	}
}

// What a request was shown is not kept in memory when the run has ended.
func TestAnEndedRunKeepsNoBriefing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var briefing weak.Pointer[parley.Message]
	p := b.start(asking(func(_ context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
		briefing = weak.Make(&call.Messages[0])
		stream(parley.Delta{Text: "hello"})
		return parley.Reply{Text: "hello", FinishReason: "stop"}, nil
	}))
	p.ask(question("q"))
	p.end()
	for range 50 {
		if runtime.GC(); briefing.Value() == nil {
			return
		}
	}
	t.Error("the briefing of an ended run is still in memory")
}

func TestSecretsOfAnAddressStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	log := &safeBuffer{}
	p := b.start(func(c *engine.Config) {
		c.Log, c.Limits.Requests = slog.New(slog.NewTextHandler(log, nil)), 1
		c.Providers = []parley.Provider{openai.New(openai.Config{
			ID: "openai", BaseURL: "http://tok3nuser@127.0.0.1:1/v1?api_key=verysecretvalue", Wire: openai.WireChat,
		})}
	})
	run := p.ask(question("q"))
	if text := log.String() + run.Err.Error() + run.Err.Hint; !strings.Contains(text, "run failed") ||
		strings.Contains(text, "verysecretvalue") || strings.Contains(text, "tok3nuser") {
		t.Error(text)
	}
}

// safeBuffer is a buffer for several writers.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
