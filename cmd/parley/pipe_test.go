package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"parley"
	"parley/fakeai"
)

// A reader who leaves, as in `parley chat … | head -1`, does not cost the answer.
func TestChatIsStoredWhenItsReaderLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hold := make(chan struct{})
	r.up.Script("", fakeai.Script{Text: "the whole answer", Chunks: 4, HoldAfter: 1, HoldChunks: hold})
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := r.command("chat", "one?")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = writing, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writing.Close()
	if _, err := reading.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = reading.Close()
	close(hold)
	got := await(t, cmd, new(bytes.Buffer), &stderr)
	runs, err := r.store().Runs(deadline(t), parley.RunQuery{Principal: principal(), Limit: 10})
	if err != nil || len(runs) != 1 || runs[0].State != parley.StateCompleted || runs[0].Result.Content != "the whole answer" {
		t.Errorf("exit code %d, %s; runs %+v, %v\n%s", got.code, cmd.ProcessState, runs, err, got.stderr)
	}
}

// A client may close the server's stderr; what is logged then must not end it.
func TestServeOutlivesItsStderr(t *testing.T) {
	t.Parallel()
	r := newRig(t, "LOG_LEVEL=debug")
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reading.Close()
	s := r.spawnTo(r.command("serve"), writing)
	s.listen()
	s.hello()
	_ = writing.Close()
	r.up.Enqueue("", fakeai.Script{Status: 400, Message: "something to warn of"})
	if got := s.call("chat", args{"prompt": "fails"}); !got.isError {
		t.Errorf("got %s", got.text)
	}
	s.ok("completed", "chat", args{"prompt": "goes on"})
	s.close()
}

// A client that closes its end of stdout is gone. Its async runs are left for
// the next process, as on every other end.
func TestServeEndsWhenStdoutIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.spawn(r.command("serve"))
	hold := make(chan struct{})
	defer close(hold)
	r.up.Enqueue("", fakeai.Script{Hold: hold})
	s.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gone","version":"1"}}}`)
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"one?","async":true}}}`)
	r.requests(1)
	_ = s.stdout.Close()
	for range 3 {
		s.write(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	}
	_ = s.stdin.Close()
	if code := s.end(); code != 0 {
		t.Errorf("%s; stderr:\n%s", s.cmd.ProcessState, s.stderr.String())
	}
	live, err := r.store().Runs(deadline(t), parley.RunQuery{Principal: principal(), Live: true, Limit: 10})
	if err != nil || len(live) != 1 || live[0].State != parley.StateQueued || live[0].Owner != "" {
		t.Errorf("live runs: %+v, %v; want the async one, queued and nobody's", live, err)
	}
}

// A second Ctrl-C ends at once what the first one could not.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := bytes.Repeat([]byte("more than a pipe holds "), 20_000)
	r.up.Script("", fakeai.Script{Text: string(long), Chunks: 4})
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	cmd := r.command("chat", "one?")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = writing, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writing.Close()
	if _, err := reading.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	// It cannot end by itself: what it writes is not read.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	late := time.After(5 * time.Second)
	for {
		select {
		case <-exited:
			return
		case <-again.C:
			_ = cmd.Process.Signal(interrupt)
		case <-late:
			_ = cmd.Process.Kill()
			<-exited
			t.Fatal("no number of interrupts ends a chat that nobody reads")
		}
	}
}
