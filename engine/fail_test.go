package engine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley"
	"parley/engine"
	"parley/fakeai"
)

func TestCancelClosesTheUpstreamRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	b.up.Enqueue("", fakeai.Script{Text: "one two three four", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
	p := b.start()
	run, err := p.Start(t.Context(), question("slow?"))
	if err != nil {
		t.Fatal(err)
	}
	upstream := b.request(1)
	waitDraft(t, p, run.ID, "one")
	other := p.ask(question("quick?"))
	if other.State != parley.StateCompleted {
		t.Errorf("another call was not served meanwhile: %v", other.Err)
	}
	got, err := p.Cancel(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	await(t, upstream.Gone(), "the upstream connection to close")
	if got.State != parley.StateCancelled || got.Err.Code != parley.CodeCancelled || !strings.HasPrefix(got.Result.Content, "one") {
		t.Errorf("cancelled run: %s %v %+v", got.State, got.Err, got.Result)
	}
	again, err := p.Cancel(t.Context(), run.ID)
	if err != nil || again.State != parley.StateCancelled {
		t.Errorf("cancelling again: %v %v", again.State, err)
	}
}

func TestRetriesStayWithinThreeRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		scripts  []fakeai.Script
		requests int
		code     parley.Code
	}{
		{"RateLimitThenAnswer", []fakeai.Script{{Status: 429}}, 2, ""},
		{"AlwaysRateLimited", []fakeai.Script{{Status: 429}, {Status: 429}, {Status: 429}, {Status: 429}}, 3, parley.CodeRateLimitExceeded},
		{"ServerError", []fakeai.Script{{Status: 500}, {Status: 503}}, 3, ""},
		{"Unauthorized", []fakeai.Script{{Status: 401}}, 1, parley.CodeAuthenticationFailed},
		{"AnHour", []fakeai.Script{{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}}, 1, parley.CodeRateLimitExceeded},
		{"CutAfterText", []fakeai.Script{{Text: "some words came", CutAfter: 1}}, 1, parley.CodeUpstreamError},
		{"CutBeforeText", []fakeai.Script{{CutAfter: -1}}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.up.Enqueue("", c.scripts...)
			run := b.start().ask(question("again?"))
			if got := parley.Code(""); run.Err != nil && run.Err.Code != c.code || run.Err == nil && c.code != got {
				t.Errorf("error %v, want %q", run.Err, c.code)
			}
			if n := len(b.up.Requests()); n != c.requests {
				t.Errorf("%d upstream requests, want %d", n, c.requests)
			}
			if n := len(run.Result.Attempts); n != c.requests {
				t.Errorf("%d attempts recorded, want %d", n, c.requests)
			}
		})
	}
}

func TestCutStreamKeepsItsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Enqueue("", fakeai.Script{Text: "alpha beta gamma delta", Chunks: 4, CutAfter: 2})
	run := b.start().ask(question("cut?"))
	if run.State != parley.StateFailed || !strings.HasPrefix(run.Result.Content, "alpha") {
		t.Errorf("%s, content %q", run.State, run.Result.Content)
	}
}

func TestSilenceIsATimeout(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]fakeai.Script{
		"BeforeTheFirstByte": {Hang: true},
		"WithinTheAnswer":    {Text: "some words", Chunks: 2, HangAfter: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.up.Script("", script)
			p := b.start(func(c *engine.Config) {
				c.Limits.FirstByteReasoning, c.Limits.Stall, c.Limits.Requests = 50*time.Millisecond, 50*time.Millisecond, 1
			})
			run := p.ask(question("anyone?"))
			if run.State != parley.StateFailed || run.Err.Code != parley.CodeTimeout {
				t.Errorf("%s %v", run.State, run.Err)
			}
			await(t, b.request(1).Gone(), "the upstream connection to close")
		})
	}
}

func TestRunLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("", fakeai.Script{Hang: true})
	p := b.start(func(c *engine.Config) { c.Limits.Run = 50 * time.Millisecond })
	if run := p.ask(question("long?")); run.State != parley.StateFailed || run.Err.Code != parley.CodeTimeout {
		t.Errorf("%s %v", run.State, run.Err)
	}
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	b.up.Script("", fakeai.Script{Hold: hold})
	p := b.start(func(c *engine.Config) { c.Limits.Runs, c.Limits.Queue = 1, 1 })
	working, err := p.Start(t.Context(), question("one?"))
	if err != nil {
		t.Fatal(err)
	}
	queued, err := p.Start(t.Context(), question("two?"))
	if err != nil || queued.State != parley.StateQueued {
		t.Fatalf("second run: %v %v", queued.State, err)
	}
	_, err = p.Start(t.Context(), question("three?"))
	if parley.ErrorCode(err) != parley.CodeOverCapacity || !parley.AsError(err).Retryable {
		t.Fatalf("third run: %v", err)
	}
	close(hold)
	for _, run := range []parley.Run{working, queued} {
		if got := p.await(run.ID); got.State != parley.StateCompleted {
			t.Errorf("%s: %s %v", run.ID, got.State, got.Err)
		}
	}
	if got := p.ask(question("four?")); got.State != parley.StateCompleted {
		t.Errorf("the place was not given back: %v", got.Err)
	}
}

func TestOneHangingModelDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("o3", fakeai.Script{Hang: true})
	p := b.start()
	req := question("stuck?")
	req.Model = "o3"
	if _, err := p.Start(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if run := p.ask(question("free?")); run.State != parley.StateCompleted {
				t.Errorf("%s %v", run.State, run.Err)
			}
		})
	}
	wg.Wait()
}

func TestRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start()
	mine := p.ask(question("mine?"))
	for name, c := range map[string]struct {
		change func(*parley.Request)
		code   parley.Code
	}{
		"UnknownThread": {func(r *parley.Request) { r.ThreadID = "conv_nobodyknowsthis" }, parley.CodeContinuationNotFound},
		"PathAsThread":  {func(r *parley.Request) { r.ThreadID = "../../etc/passwd" }, parley.CodeContinuationNotFound},
		"SomeoneElses":  {func(r *parley.Request) { r.ThreadID, r.Caller.Principal = mine.ThreadID, "you" }, parley.CodeContinuationNotYours},
		"ChosenPrefix":  {func(r *parley.Request) { r.ThreadID, r.NewThread = "conv_mine", true }, parley.CodeInvalidArgument},
		"UnknownModel":  {func(r *parley.Request) { r.Model = "nobody/knows-this" }, parley.CodeModelNotFound},
		"TooLong":       {func(r *parley.Request) { r.Prompt = strings.Repeat("a", 10<<20) }, parley.CodeContextLengthExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			req := question("never sent")
			c.change(&req)
			if _, err := p.Start(t.Context(), req); parley.ErrorCode(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	runs, err := p.Runs(t.Context(), parley.RunQuery{Principal: "me", Limit: 10})
	if err != nil || len(runs) != 1 {
		t.Errorf("%d runs are written down, want 1 (%v)", len(runs), err)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d upstream requests, want 1", n)
	}
}

// waitDraft waits until a run's draft has begun.
func waitDraft(t *testing.T, p *process, id, prefix string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	seen := errors.New("seen")
	following, stop := context.WithCancelCause(ctx)
	var text strings.Builder
	_, err := p.Follow(following, id, func(piece string) {
		text.WriteString(piece)
		if strings.HasPrefix(text.String(), prefix) {
			stop(seen)
		}
	})
	if !errors.Is(err, seen) {
		t.Fatalf("the draft %q never began with %q: %v", text.String(), prefix, err)
	}
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatal("waited in vain for " + what)
	}
}

func TestAwaitSaysWhyItStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.start(func(c *engine.Config) { c.Adopt = false })
	run, err := p.Leave(t.Context(), question("someone else's"))
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, enough)
	defer cancel()
	if _, err := p.Await(ctx, run.ID); !errors.Is(err, enough) {
		t.Errorf("%v, want the context's cause", err)
	}
}
