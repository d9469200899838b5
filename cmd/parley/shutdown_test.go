package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
	"parley/fakeai"
)

var (
	interrupt = os.Interrupt
	terminate = syscall.SIGTERM
)

func toolCall(name string, a args) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: name, Arguments: a}
}

func connectHTTP(t *testing.T, url string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "parley-test", Version: "1"}, nil)
	session, err := client.Connect(deadline(t), &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// prompt logs how long a process took to end, and fails if it hung. The goal is
// 100 ms; a busy machine must not decide a test.
func prompt(t *testing.T, what string, took time.Duration) {
	t.Helper()
	t.Logf("%s: ended after %s", what, took.Round(time.Millisecond/10))
	if took > hung {
		t.Errorf("%s: ended after %s", what, took)
	}
}

// hung is longer than anything takes that works, on any machine.
const hung = 15 * time.Second

// endings are the ways to ask a server on stdio to end.
func endings() map[string]func(*server) {
	return map[string]func(*server){
		"SIGINT":       func(s *server) { s.signal(interrupt) },
		"SIGTERM":      func(s *server) { s.signal(terminate) },
		"closed stdin": func(s *server) { _ = s.stdin.Close() },
	}
}

func eachEnding(t *testing.T, story func(t *testing.T, what string, ask func(*server))) {
	for what, ask := range endings() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			story(t, what, ask)
		})
	}
}

func TestEndsPromptlyWhenIdle(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, what string, ask func(*server)) {
		r := newRig(t)
		s := r.serve()
		one := s.ok("completed", "chat", args{"prompt": "one?"})
		began := time.Now()
		ask(s)
		code := s.end()
		prompt(t, what+", idle", time.Since(began))
		if code != 0 {
			t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
		}
		s = r.serve()
		s.ok("completed", "chat", args{"prompt": "two?", "continuation_id": one.Continuation.ID})
		if got := said(r.exactly(2)[1]); len(got) != 3 {
			t.Errorf("the store has lost something: %q", got)
		}
	})
}

func TestEndsPromptlyWithSyncRun(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, what string, ask func(*server)) {
		r := newRig(t)
		s := r.serve()
		hold := make(chan struct{})
		defer close(hold)
		r.up.Enqueue("", fakeai.Script{Text: "half an answer", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
		waiting := s.tool("chat", args{"prompt": "one?"})
		going := r.requests(1)[0]
		began := time.Now()
		ask(s)
		code := s.end()
		prompt(t, what+", sync run", time.Since(began))
		if code != 0 {
			t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
		}
		gone(t, going)
		if got, err := waiting.answer(); err == nil && got.Code != "RUN_INTERRUPTED" {
			t.Errorf("the waiting call was answered with %s", got.text)
		} else {
			t.Logf("the waiting call got: %v %s", err, first(got.text))
		}

		s = r.serve()
		runs := s.ok("completed", "check_status", args{})
		if len(runs.Runs) != 1 || runs.Runs[0].Status != "failed" {
			t.Fatalf("runs: %s", runs.text)
		}
		got := s.ok("failed", "check_status", args{"continuation_id": runs.Runs[0].RunID})
		if got.Code != "RUN_INTERRUPTED" || got.Continuation.ID == "" {
			t.Errorf("the run: %s", got.text)
		}
		s.ok("completed", "chat", args{"prompt": "two?", "continuation_id": got.Continuation.ID})
		r.exactly(2)
	})
}

func TestEndsPromptlyWithAsyncRunWhichIsFinishedLater(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, what string, ask func(*server)) {
		r := newRig(t)
		s := r.serve()
		hold := make(chan struct{})
		defer close(hold)
		r.up.Enqueue("", fakeai.Script{Text: "half an answer", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
		left := s.ok("processing", "chat", args{"prompt": "one?", "async": true})
		going := r.requests(1)[0]
		began := time.Now()
		ask(s)
		code := s.end()
		prompt(t, what+", async run", time.Since(began))
		if code != 0 {
			t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
		}
		gone(t, going)
		run, err := r.store().Run(deadline(t), left.Metadata.RunID)
		if err != nil || run.State != parley.StateQueued || run.Owner != "" {
			t.Errorf("the run is %s of %q, %v; want it queued and nobody's", run.State, run.Owner, err)
		}
		s = r.serve()
		done := s.ok("completed", "check_status", args{"continuation_id": left.Metadata.RunID, "wait_seconds": 20})
		if done.Content != "ECHO: one?" {
			t.Errorf("the next process answered %q", done.Content)
		}
		r.exactly(2)
	})
}

func TestEndsPromptlyWhenNobodyReads(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, what string, ask func(*server)) {
		r := newRig(t)
		s := r.spawn(r.command("serve"))
		s.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"deaf","version":"1"}}}`)
		s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		hold := make(chan struct{})
		defer close(hold)
		r.up.Enqueue("", fakeai.Script{Hold: hold})
		s.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"one?","async":true}}}`)
		r.requests(1)
		// Answers that no pipe holds.
		for range 8 {
			s.write(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"challenge","arguments":{"prompt":"` + strings.Repeat("x", 200_000) + `"}}}`)
		}
		read := 0
		for buf := make([]byte, 4096); read < 20_000; { // so one of the long answers is being written
			n, err := s.stdout.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			read += n
		}
		began := time.Now()
		ask(s)
		code := s.end()
		prompt(t, what+", nobody reads", time.Since(began))
		if code != 0 {
			t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
		}
		live, err := r.store().Runs(deadline(t), parley.RunQuery{Principal: principal(), Live: true, Limit: 10})
		if err != nil || len(live) != 1 || live[0].State != parley.StateQueued {
			t.Errorf("live runs: %+v, %v; want the async one, queued", live, err)
		}
		next := r.serve()
		next.ok("completed", "check_status", args{"continuation_id": live[0].ID, "wait_seconds": 20})
	})
}

// A client may close its end right after its last question: what was asked for
// the background is written down all the same, and done by the next process.
func TestAsyncCallRightBeforeTheEndIsNotLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.spawn(r.command("serve"))
	s.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hasty","version":"1"}}}`)
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"later?","async":true}}}`)
	_ = s.stdin.Close()
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
	}
	runs, err := r.store().Runs(deadline(t), parley.RunQuery{Principal: principal(), Limit: 10})
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs: %+v, %v; want the one that was asked for", runs, err)
	}
	next := r.serve()
	next.ok("completed", "check_status", args{"continuation_id": runs[0].ID, "wait_seconds": 20})
}
