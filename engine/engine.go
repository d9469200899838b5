// Package engine is the way of a request:
//
//	admit → thread → route → brief → ask → record
//
// It owns the lifetime of runs. A caller starts a run, waits for it as long as
// it likes, and looks at it, cancels it or hands it over by its id. What a run
// does is a [parley.Plan]; the engine knows no tool by name.
package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley"
	"parley/brief"
	"parley/route"
)

// Config wires an engine. Store, Catalogue and Plans are required.
type Config struct {
	Store     parley.Store
	Catalogue route.Catalogue
	// Providers that can be asked, best first. None is valid: every question
	// then ends with an explanation.
	Providers []parley.Provider
	// Plans makes the work of each tool that asks models.
	Plans map[string]parley.PlanFunc
	// DefaultModel answers when a new thread names none; empty leaves the
	// choice to the router.
	DefaultModel string
	// ProviderModels are the models of providers that have no catalogue rows.
	ProviderModels map[string]string
	// Allowed restricts providers to these models; none means all.
	Allowed map[string][]string
	// Keys says what to set to get a provider, for hints.
	Keys map[string]string
	// Adopt takes up runs that dead processes left behind. Only a process that
	// means to stay should: each adoption is one of the run's two attempts.
	Adopt bool
	// Limits; each zero field has its default.
	Limits Limits
	// Clock defaults to the wall clock.
	Clock parley.Clock
	// Log defaults to discarding.
	Log *slog.Logger
}

// Limits bound what one process does. Zero fields take their defaults.
type Limits struct {
	// FirstByte is how long a provider may stay silent before its answer
	// begins (120 s), FirstByteReasoning the same for models that think (300 s).
	FirstByte          time.Duration
	FirstByteReasoning time.Duration
	// Stall is the longest silence within an answer (60 s).
	Stall time.Duration
	// Run is the longest a run may take, with all its retries (30 min).
	Run time.Duration
	// Requests is how many upstream requests one question may cause (3).
	Requests int
	// MaxPause is the longest that a provider's wish to wait is honoured (30 s);
	// beyond it the question fails at once and says how long.
	MaxPause time.Duration
	// Backoff is the first pause between two requests; it doubles (500 ms).
	Backoff time.Duration
	// Runs work at once (256); the next Queue (1,024) wait, and the rest are
	// refused. PerSession (64) is how many of them one client may have, and
	// PerProvider (64) how many one provider is asked at once.
	Runs        int
	Queue       int
	PerSession  int
	PerProvider int
	// A draft is written down every DraftEvery (500 ms) or DraftBytes (16 KiB).
	DraftEvery time.Duration
	DraftBytes int
	// Heartbeat (5 s), CancelPoll (50 ms) and OrphanPoll (1 s) are how often the
	// store is told and asked about runs.
	Heartbeat  time.Duration
	CancelPoll time.Duration
	OrphanPoll time.Duration
	// TakeOver is how long a run whose process died waits for one that can take
	// it up (10 min).
	TakeOver time.Duration
	// KeepRuns is how long ended runs are kept (72 h); KeepThreads the same for
	// idle threads, zero for ever.
	KeepRuns    time.Duration
	KeepThreads time.Duration
	// MaxTurns refuses to continue threads that are longer; zero for no limit.
	MaxTurns int
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.FirstByte, 120*time.Second)
	setDefault(&l.FirstByteReasoning, 300*time.Second)
	setDefault(&l.Stall, 60*time.Second)
	setDefault(&l.Run, 30*time.Minute)
	setDefault(&l.Requests, 3)
	setDefault(&l.MaxPause, 30*time.Second)
	setDefault(&l.Backoff, 500*time.Millisecond)
	setDefault(&l.Runs, 256)
	setDefault(&l.Queue, 1024)
	setDefault(&l.PerSession, 64)
	setDefault(&l.PerProvider, 64)
	setDefault(&l.DraftEvery, 500*time.Millisecond)
	setDefault(&l.DraftBytes, 16<<10)
	setDefault(&l.Heartbeat, 5*time.Second)
	setDefault(&l.CancelPoll, 50*time.Millisecond)
	setDefault(&l.OrphanPoll, time.Second)
	setDefault(&l.TakeOver, 10*time.Minute)
	setDefault(&l.KeepRuns, 72*time.Hour)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Why a run's context ended. Each decides what is recorded.
var (
	errCancelled = fmt.Errorf("cancelled by the caller: %w", context.Canceled)
	errShutdown  = fmt.Errorf("the process is ending: %w", context.Canceled)
	errRunLimit  = fmt.Errorf("the run's time limit passed: %w", context.DeadlineExceeded)
)

// Engine carries runs from admission to record.
type Engine struct {
	store     parley.Store
	catalogue route.Catalogue
	plans     map[string]parley.PlanFunc
	providers map[string]parley.Provider
	world     route.World
	counter   *brief.Counter
	limits    Limits
	clock     parley.Clock
	log       *slog.Logger
	adopts    bool
	systemTok func() int

	admission *admission
	upstream  map[string]*slots

	mu   sync.Mutex
	live map[string]*live
	// unstored are endings that the store refused, to be tried again.
	unstored map[string]unstored
	closed   bool

	stop context.CancelFunc
	// starts are the calls that are being written down, runs the goroutines that
	// work, loops those that look after them.
	starts sync.WaitGroup
	runs   sync.WaitGroup
	loops  sync.WaitGroup
}

// New starts an engine. The caller closes it before it closes the store.
func New(cfg Config) *Engine {
	limits := cfg.Limits.withDefaults()
	e := &Engine{
		store:     cfg.Store,
		catalogue: cfg.Catalogue,
		plans:     cfg.Plans,
		providers: make(map[string]parley.Provider, len(cfg.Providers)),
		world: route.World{
			Catalogue: cfg.Catalogue,
			Default:   cfg.DefaultModel,
			Models:    cfg.ProviderModels,
			Keys:      cfg.Keys,
			Allowed:   cfg.Allowed,
		},
		counter:   brief.NewCounter(),
		limits:    limits,
		clock:     cfg.Clock,
		log:       cfg.Log,
		adopts:    cfg.Adopt,
		admission: newAdmission(limits),
		upstream:  make(map[string]*slots, len(cfg.Providers)),
		live:      make(map[string]*live),
		unstored:  make(map[string]unstored),
	}
	if e.clock == nil {
		e.clock = WallClock{}
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	for _, p := range cfg.Providers {
		e.providers[p.ID()] = p
		e.world.Providers = append(e.world.Providers, p.ID())
		e.upstream[p.ID()] = newSlots(limits.PerProvider)
	}
	e.systemTok = sync.OnceValue(func() int {
		n, err := e.counter.Count(context.Background(), brief.System())
		if err != nil {
			return len(brief.System())
		}
		return n
	})

	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.loops.Go(func() { e.keepAlive(ctx) })
	e.loops.Go(func() { e.watchCancels(ctx) })
	e.loops.Go(func() { e.tendOrphans(ctx) })
	return e
}

// World is what the router chooses from, for explaining without asking.
func (e *Engine) World() route.World { return e.world }

// Close ends the process's part in all runs: what outlives its caller is left
// for the next process, what was waited for ends interrupted with its draft.
// It returns when everything is written down.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	for _, l := range e.live {
		l.cancel(errShutdown)
	}
	e.mu.Unlock()
	e.stop()
	e.awaitStarts()
	e.runs.Wait()
	e.loops.Wait()
	e.storeAgain(endingContext)
}

// awaitStarts lets calls that were just being written down come to that, so that
// no background question is lost on the doorstep; but not for long.
func (e *Engine) awaitStarts() {
	written := make(chan struct{})
	go func() {
		e.starts.Wait()
		close(written)
	}()
	ctx, done := endingContext()
	defer done()
	select {
	case <-written:
	case <-ctx.Done():
	}
}

// WallClock is the real time.
type WallClock struct{}

// Now returns the current time.
func (WallClock) Now() time.Time { return time.Now() } //nolint:forbidigo // this is the clock

// Sleep waits for d or until ctx ends.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
