package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley"
	"parley/catalog"
	"parley/chat"
	"parley/engine"
	"parley/fakeai"
	"parley/provider/openai"
	"parley/store/sqlite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Idle keep-alive connections of the shared transport.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

const model = "gpt-5-mini"

// bundle is a store and an upstream on which engines are started.
type bundle struct {
	t   *testing.T
	dir string
	up  *fakeai.Server
}

func setup(t *testing.T) *bundle {
	t.Helper()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	return &bundle{t: t, dir: t.TempDir(), up: up}
}

// process is one engine on its own handle of the store, as another process
// would have it.
type process struct {
	*engine.Engine

	t     *testing.T
	store *sqlite.DB
	once  sync.Once
}

func (b *bundle) start(change ...func(*engine.Config)) *process {
	b.t.Helper()
	store, err := sqlite.Open(b.t.Context(), b.dir, sqlite.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	models, err := catalog.Embedded()
	if err != nil {
		b.t.Fatal(err)
	}
	cfg := engine.Config{
		Store: store, Catalogue: models, Adopt: true,
		Providers: []parley.Provider{openai.New(openai.Config{ID: "openai", BaseURL: b.up.OpenAI(), Key: "sk-test"})},
		Plans:     map[string]parley.PlanFunc{"chat": chat.New},
		Limits:    engine.Limits{Backoff: time.Millisecond, OrphanPoll: 10 * time.Millisecond},
	}
	for _, f := range change {
		f(&cfg)
	}
	p := &process{Engine: engine.New(cfg), t: b.t, store: store}
	b.t.Cleanup(p.end)
	return p
}

// end is an orderly end.
func (p *process) end() {
	p.once.Do(func() {
		p.Close()
		if err := p.store.Close(); err != nil {
			p.t.Error(err)
		}
	})
}

func question(text string) parley.Request {
	return parley.Request{
		Tool: "chat", Prompt: text, Model: model, Mode: parley.ModeWaited,
		Caller: parley.Caller{Principal: "me", Session: "s"},
	}
}

// ask starts a run and waits for its end.
func (p *process) ask(req parley.Request) parley.Run {
	p.t.Helper()
	run, err := p.Start(p.t.Context(), req)
	if err != nil {
		p.t.Fatalf("Start: %v", err)
	}
	return p.await(run.ID)
}

func (p *process) await(id string) parley.Run {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	run, err := p.Await(ctx, id)
	if err != nil {
		p.t.Fatalf("Await: %v", err)
	}
	return run
}

func (b *bundle) request(n int) *fakeai.Request {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	reqs, err := b.up.Await(ctx, n)
	if err != nil {
		b.t.Fatalf("waiting for request %d: %v", n, err)
	}
	return reqs[n-1]
}

func TestAnswerIsCommitted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("", fakeai.Script{Text: "Use a queue.", Usage: &fakeai.Usage{Input: 150, CachedInput: 100, Output: 85, Reasoning: 20}})
	p := b.start()
	run := p.ask(question("Queue or cron?"))
	if run.State != parley.StateCompleted || run.Result.Content != "Use a queue." || run.Result.Turn != 1 || run.Result.Messages != 2 {
		t.Fatalf("run: %+v, result %+v", run, run.Result)
	}
	u := run.Result.Usage
	if u.InputTokens != 150 || u.CachedInputTokens != 100 || u.OutputTokens != 85 || u.ReasoningTokens != 20 || u.CostMicros == nil {
		t.Errorf("usage: %+v", u)
	}
	turns, err := p.store.Turns(t.Context(), run.ThreadID, parley.Span{From: 1, Through: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) != 1 || turns[0].Question != "Queue or cron?" || turns[0].Answers[0].Text != "Use a queue." || turns[0].QuestionTokens == 0 || turns[0].Answers[0].Tokens == 0 {
		t.Errorf("turns: %+v", turns)
	}
}

func TestTenTurnsGrowLinearly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("", fakeai.Script{Reply: func(r *fakeai.Request) string {
		return fmt.Sprintf("answer-%d.", (len(r.Messages)+1)/2)
	}})
	p := b.start()
	req := question("question-1?")
	for n := 1; n <= 10; n++ {
		run := p.ask(req)
		req = question(fmt.Sprintf("question-%d?", n+1))
		req.ThreadID = run.ThreadID
	}
	var sizes []int
	reqs := b.up.Requests()
	for i, r := range reqs {
		text := r.Text()
		sizes = append(sizes, len(text))
		for n := 1; n <= i; n++ {
			for _, want := range []string{fmt.Sprintf("question-%d?", n), fmt.Sprintf("answer-%d.", n)} {
				if got := strings.Count(text, want); got != 1 {
					t.Errorf("request %d holds %q %d times", i+1, want, got)
				}
			}
		}
		if i == 0 {
			continue
		}
		before := reqs[i-1]
		if r.System != before.System {
			t.Errorf("request %d has another system prompt", i+1)
		}
		for j, m := range before.Messages {
			if r.Messages[j] != m {
				t.Errorf("message %d of request %d differs from the request before", j, i+1)
			}
		}
	}
	first, last := sizes[1]-sizes[0], sizes[9]-sizes[8]
	if last > first+8 { // two more digits in each line
		t.Errorf("the request grew by %d at first and by %d at last: %v", first, last, sizes)
	}
}

func TestFailedQuestionsStayOutOfBriefings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	first := p.ask(question("first?"))
	b.up.Enqueue("", fakeai.Script{Status: 400, Message: "bad"})
	req := question("doomed?")
	req.ThreadID = first.ThreadID
	failed := p.ask(req)
	if failed.State != parley.StateFailed || failed.Err.Code != parley.CodeUpstreamError || len(failed.Err.Attempts) != 1 {
		t.Fatalf("failed run: %+v, %+v", failed.State, failed.Err)
	}
	req.Prompt = "third?"
	if got := p.ask(req); got.Result.Turn != 2 {
		t.Errorf("turn %d, want 2", got.Result.Turn)
	}
	if text := b.request(3).Text(); strings.Contains(text, "doomed?") || !strings.Contains(text, "first?") {
		t.Errorf("the briefing is wrong:\n%s", text)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	req := question("once?")
	req.IdempotencyKey = "k1"
	first, second := p.ask(req), p.ask(req)
	if first.ID != second.ID || second.Result.Content != first.Result.Content {
		t.Errorf("two runs: %s and %s", first.ID, second.ID)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests, want 1", n)
	}
}

func TestIdempotencyKeyOfAnotherCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	req := question("once?")
	req.IdempotencyKey = "k1"
	first := p.ask(req)
	for name, change := range map[string]func(*parley.Request){
		"Prompt": func(r *parley.Request) { r.Prompt = "something else?" },
		"Thread": func(r *parley.Request) { r.ThreadID = first.ThreadID },
		"Model":  func(r *parley.Request) { r.Model = "o3" },
	} {
		other := req
		change(&other)
		if _, err := p.Start(t.Context(), other); parley.ErrorCode(err) != parley.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests, want 1", n)
	}
}

func TestIdempotencyKeyOfAFailedCallIsFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Enqueue("", fakeai.Script{Status: 400})
	p := b.start()
	req := question("once more?")
	req.IdempotencyKey = "k1"
	if failed := p.ask(req); failed.State != parley.StateFailed {
		t.Fatal(failed.State)
	}
	if again := p.ask(req); again.State != parley.StateCompleted {
		t.Errorf("%s %v", again.State, again.Err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Enqueue("", fakeai.Script{Text: "an answer that", Finish: fakeai.FinishLength}, fakeai.Script{Text: strings.Repeat("word ", 400_000), Chunks: 50})
	p := b.start()
	run := p.ask(question("short?"))
	if notes := strings.Join(run.Result.Notes, "; "); !strings.Contains(notes, "output limit") {
		t.Errorf("a cut answer: notes %q", notes)
	}
	req := question("long?")
	req.ThreadID = run.ThreadID
	p.ask(req)
	run = p.ask(req)
	if notes := strings.Join(run.Result.Notes, "; "); !strings.Contains(notes, "2 of 2 turns were left out") {
		t.Errorf("history left out: notes %q", notes)
	}
}

func TestConcurrentTurnsOnOneThread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	first := p.ask(question("begin?"))
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			req := question(fmt.Sprintf("parallel %d?", n))
			req.ThreadID = first.ThreadID
			if run := p.ask(req); run.State != parley.StateCompleted {
				t.Errorf("run %d: %s %v", n, run.State, run.Err)
			}
		})
	}
	wg.Wait()
	turns, err := p.store.Turns(t.Context(), first.ThreadID, parley.Span{From: 1, Through: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) != 21 {
		t.Fatalf("%d turns, want 21", len(turns))
	}
	for i, turn := range turns {
		if turn.Number != i+1 || turn.Answers[0].Text != "ECHO: "+turn.Question {
			t.Errorf("turn %d is %d: %q → %q", i+1, turn.Number, turn.Question, turn.Answers[0].Text)
		}
	}
}
