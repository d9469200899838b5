package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
)

func TestKillAfterAnswerKeepsHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	one := s.ok("completed", "chat", args{"prompt": "one?"})
	s.kill()

	s = r.serve()
	two := s.ok("completed", "chat", args{"prompt": "two?", "continuation_id": one.Continuation.ID})
	s.kill()

	s = r.serve()
	three := s.ok("completed", "chat", args{"prompt": "three?", "continuation_id": one.Continuation.ID})
	if three.Continuation.ID != one.Continuation.ID || three.Continuation.MessageCount != 6 {
		t.Errorf("continuation is %+v, want %s with 6 messages", three.Continuation, one.Continuation.ID)
	}
	want := []string{
		"user: one?", "assistant: " + one.Content,
		"user: two?", "assistant: " + two.Content,
		"user: three?",
	}
	if diff := cmp.Diff(want, said(r.exactly(3)[2])); diff != "" {
		t.Errorf("the third request's history (-want +got):\n%s", diff)
	}
}

func TestKillDuringAsyncRunIsTakenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	one := s.ok("completed", "chat", args{"prompt": "one?"})

	hold := make(chan struct{})
	defer close(hold)
	r.up.Enqueue("", fakeai.Script{Text: "never to be heard", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
	r.up.Script("", fakeai.Script{Text: "the whole answer"})
	left := s.ok("processing", "chat", args{"prompt": "two?", "continuation_id": one.Continuation.ID, "async": true})
	going := r.requests(2)[1]
	s.kill()
	gone(t, going)

	s = r.serve()
	done := s.ok("completed", "check_status", args{"continuation_id": left.Metadata.RunID, "wait_seconds": 20})
	if done.Content != "the whole answer" || done.Metadata.RunID != left.Metadata.RunID {
		t.Errorf("the run ended with %q", done.text)
	}
	asked := r.exactly(3)
	if diff := cmp.Diff(asked[1].Messages, asked[2].Messages); diff != "" || asked[1].System != asked[2].System || asked[1].Model != asked[2].Model {
		t.Errorf("the second attempt asked something else (-first +second):\n%s", diff)
	}
	turns := r.turns(r.store(), one.Continuation.ID)
	if len(turns) != 2 || turns[1].Question != "two?" || turns[1].Answers[0].Text != "the whole answer" {
		t.Errorf("turns are %+v, want exactly one more", turns)
	}
	again := s.ok("completed", "chat", args{"prompt": "three?", "continuation_id": one.Continuation.ID})
	if got := said(r.exactly(4)[3]); len(got) != 5 || again.Continuation.MessageCount != 6 {
		t.Errorf("the thread went on with %q", got)
	}
}

// A run is asked again once; a second death ends it with what it had.
func TestKillTwiceInterruptsAsyncRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hold := make(chan struct{})
	defer close(hold)
	r.up.Script("", fakeai.Script{Text: strings.Repeat("half an answer ", 4000), Chunks: 100, HoldAfter: 60, HoldChunks: hold})
	db := r.store()

	s := r.serve()
	left := s.ok("processing", "chat", args{"prompt": "one?", "async": true})
	for n := 1; n <= 2; n++ {
		going := r.requests(n)[n-1]
		awaitDraft(t, db, left.Metadata.RunID)
		s.kill()
		gone(t, going)
		s = r.serve()
	}
	done := s.ok("failed", "check_status", args{"continuation_id": left.Metadata.RunID, "wait_seconds": 20})
	if done.Code != "RUN_INTERRUPTED" || !strings.HasPrefix(done.Content, "half an answer") {
		t.Errorf("got %s with content %.40q", done.Code, done.Content)
	}
	r.exactly(2)
}

// awaitDraft waits until a part of the answer is written down.
func awaitDraft(t testing.TB, db parley.Store, runID string) {
	t.Helper()
	ctx := deadline(t)
	for {
		draft, err := db.Draft(ctx, runID)
		if err != nil {
			t.Fatal(err)
		}
		if draft != "" {
			return
		}
		if err := db.Changed(ctx); err != nil {
			t.Fatalf("no draft of %s: %v", runID, err)
		}
	}
}

func TestKillDuringSyncCallInterrupts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	db := r.store()
	s := r.serve()
	one := s.ok("completed", "chat", args{"prompt": "one?"})

	hold := make(chan struct{})
	defer close(hold)
	r.up.Enqueue("", fakeai.Script{Text: "a draft that breaks off", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
	waiting := s.tool("chat", args{"prompt": "two?", "continuation_id": one.Continuation.ID})
	going := r.requests(2)[1]
	live, err := db.Runs(deadline(t), parley.RunQuery{Principal: principal(), Live: true, Limit: 10})
	if err != nil || len(live) != 1 {
		t.Fatalf("live runs: %v, %v", live, err)
	}
	awaitDraft(t, db, live[0].ID)
	s.kill()
	gone(t, going)
	if _, err := waiting.answer(); err == nil {
		t.Error("a killed server answered")
	}

	s = r.serve()
	dead := s.ok("failed", "check_status", args{"continuation_id": live[0].ID, "wait_seconds": 20})
	if dead.Code != "RUN_INTERRUPTED" || dead.Content == "" || !strings.HasPrefix("a draft that breaks off", dead.Content) {
		t.Errorf("got %s with content %q", dead.Code, dead.Content)
	}
	three := s.ok("completed", "chat", args{"prompt": "three?", "continuation_id": one.Continuation.ID})
	// Had anything been asked again by itself, it would be among these.
	asked := r.exactly(3)
	want := []string{"user: one?", "assistant: " + one.Content, "user: three?"}
	if diff := cmp.Diff(want, said(asked[2])); diff != "" {
		t.Errorf("the thread goes on without the dead question (-want +got):\n%s", diff)
	}
	if three.Continuation.MessageCount != 4 {
		t.Errorf("messageCount is %d, want 4", three.Continuation.MessageCount)
	}
}
