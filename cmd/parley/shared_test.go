package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

func TestThreadContinuesInAnotherProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.serve(), r.serve()
	one := a.ok("completed", "chat", args{"prompt": "one?"})
	two := b.ok("completed", "chat", args{"prompt": "two?", "continuation_id": one.Continuation.ID})
	a.ok("completed", "chat", args{"prompt": "three?", "continuation_id": one.Metadata.RunID})
	want := []string{
		"user: one?", "assistant: " + one.Content, "user: two?", "assistant: " + two.Content, "user: three?",
	}
	if diff := cmp.Diff(want, said(r.exactly(3)[2])); diff != "" {
		t.Errorf("what the third request holds (-want +got):\n%s", diff)
	}
}

func TestStatusAndCancelAcrossProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.serve(), r.serve()
	hold := make(chan struct{})
	defer close(hold)
	r.up.Script("", fakeai.Script{Text: "a draft that goes on", Chunks: 4, HoldAfter: 2, HoldChunks: hold})

	left := a.ok("processing", "chat", args{"prompt": "one?", "async": true})
	going := r.requests(1)[0]
	awaitDraft(t, r.store(), left.Metadata.RunID)
	seen := b.ok("processing", "check_status", args{"continuation_id": left.Metadata.RunID})
	if seen.Content == "" || !strings.HasPrefix("a draft that goes on", seen.Content) {
		t.Errorf("the other process shows the draft %q", seen.Content)
	}

	began := time.Now()
	stopping := b.tool("cancel_job", args{"continuation_id": left.Metadata.RunID})
	gone(t, going)
	closed := time.Since(began)
	stopped, err := stopping.answer()
	if err != nil || stopped.isError || stopped.Status != "cancelled" {
		t.Errorf("cancel_job: %v\n%s", err, stopped.text)
	}
	t.Logf("cancel in another process: upstream closed after %s, answered after %s", closed, time.Since(began))
	if closed > hung {
		t.Errorf("the upstream connection was closed after %s", closed)
	}
	if got := a.ok("cancelled", "check_status", args{"continuation_id": left.Metadata.RunID}); got.Content == "" {
		t.Error("what had arrived is lost")
	}
	again := a.call("cancel_job", args{"continuation_id": left.Metadata.RunID})
	if again.isError || again.Status != "cancelled" || !strings.Contains(again.text, "had ended already") {
		t.Errorf("cancelling once more: %s", again.text)
	}
	r.exactly(1)
}

// The answer of a run that lives in one process reaches a waiter in another.
func TestWaitAcrossProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.serve(), r.serve()
	hold := make(chan struct{})
	r.up.Script("", fakeai.Script{Text: "at last", Hold: hold})
	left := a.ok("processing", "chat", args{"prompt": "one?", "async": true})
	waiting := b.tool("check_status", args{"continuation_id": left.Metadata.RunID, "wait_seconds": 20})
	r.requests(1)
	began := time.Now()
	close(hold)
	got, err := waiting.answer()
	if err != nil || got.Status != "completed" || got.Content != "at last" {
		t.Errorf("got %v\n%s", err, got.text)
	}
	t.Logf("the answer was seen in another process after %s", time.Since(began))
}

func TestEightProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	const processes, each = 8, 8
	r := newRig(t)
	db := r.store()
	first := r.serve()
	shared := first.ok("completed", "chat", args{"prompt": "begin"}).Continuation.ID

	servers := make([]*server, processes)
	var started sync.WaitGroup
	for i := range servers {
		started.Go(func() { servers[i] = r.serve() })
	}
	started.Wait()
	var writing sync.WaitGroup
	answers := make([][]answer, processes)
	for i, s := range servers {
		answers[i] = make([]answer, each)
		for n := range each {
			writing.Go(func() {
				prompt := fmt.Sprintf("question %d of process %d", n, i)
				got, err := s.tool("chat", args{"prompt": prompt, "continuation_id": shared}).answer()
				if err != nil || got.Status != "completed" || got.Content != "ECHO: "+prompt {
					t.Errorf("%s: %v\n%s", prompt, err, got.text)
				}
				answers[i][n] = got
			})
		}
	}
	writing.Wait()

	turns := r.turns(db, shared)
	if len(turns) != 1+processes*each {
		t.Errorf("%d turns, want %d", len(turns), 1+processes*each)
	}
	byRun := map[string]string{}
	for i, turn := range turns {
		if turn.Number != i+1 {
			t.Errorf("turn %d has number %d", i+1, turn.Number)
		}
		if got, want := turn.Answers[0].Text, "ECHO: "+turn.Question; got != want {
			t.Errorf("turn %d: answer %q to question %q", turn.Number, got, turn.Question)
		}
		byRun[turn.RunID] = turn.Answers[0].Text
	}
	for _, list := range answers {
		for _, a := range list {
			if byRun[a.Metadata.RunID] != a.Content {
				t.Errorf("the answer %q is no turn", a.Content)
			}
		}
	}
}
