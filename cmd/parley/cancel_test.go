package main

import (
	"testing"
	"time"

	"parley/fakeai"
)

func TestClientCancelClosesUpstream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	hold := make(chan struct{})
	r.up.Enqueue("", fakeai.Script{Text: "stopped in the middle", Chunks: 4, HoldAfter: 2, HoldChunks: hold})
	doomed := s.tool("chat", args{"prompt": "stop me"})
	going := r.requests(1)[0]

	r.up.Enqueue("", fakeai.Script{Text: "served", Hold: hold})
	other := s.tool("chat", args{"prompt": "serve me"})
	r.requests(2)

	began := time.Now()
	doomed.cancel()
	gone(t, going)
	took := time.Since(began)
	t.Logf("cancel by the client: upstream closed after %s", took)
	if took > hung {
		t.Errorf("the upstream connection was closed after %s", took)
	}

	close(hold)
	if got, err := other.answer(); err != nil || got.Status != "completed" || got.Content != "served" {
		t.Errorf("the other call: %v\n%s", err, got.text)
	}
	runs := s.ok("completed", "check_status", args{})
	states := map[string]int{}
	for _, run := range runs.Runs {
		states[run.Status]++
	}
	if states["cancelled"] != 1 || states["completed"] != 1 || len(runs.Runs) != 2 {
		t.Errorf("runs: %s", runs.text)
	}
	// The server is well, and the cancelled question was not asked again.
	s.ok("completed", "chat", args{"prompt": "go on"})
	r.exactly(3)
}
