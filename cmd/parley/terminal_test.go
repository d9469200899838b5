package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"parley"
	"parley/fakeai"
)

// Every command has a help text with examples.
func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		path := strings.Fields(c.CommandPath())[1:]
		got := r.run(append(path, "--help")...)
		if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, "Examples:\n  parley") || !strings.Contains(got.stdout, "Usage:") {
			t.Errorf("%s --help: exit code %d, want examples\n%s%s", c.CommandPath(), got.code, got.stdout, got.stderr)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand())
	if got := r.run(); got.code != 0 || !strings.Contains(got.stdout, "parley demo") {
		t.Errorf("parley alone: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// An answer may be complete before anybody looks at the run.
func TestChatShowsFastAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script("", fakeai.Script{Text: "at once", Chunks: 1})
	var chats sync.WaitGroup
	for range 16 {
		chats.Go(func() {
			if got := r.run("chat", "one?"); got.code != 0 || got.stdout != "at once\n" {
				t.Errorf("exit code %d, stdout %q\n%s", got.code, got.stdout, got.stderr)
			}
		})
	}
	chats.Wait()
}

// A slow reader gets the whole answer, although the run ends before it has.
func TestChatShowsWholeAnswerToSlowReaders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := strings.Repeat("more than a pipe holds ", 10_000) + "and this is the end"
	r.up.Script("", fakeai.Script{Text: long, Chunks: 2})
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
	db := r.store()
	until(t, db, "the run has ended", func() (bool, error) {
		runs, err := db.Runs(deadline(t), parley.RunQuery{Principal: principal(), Limit: 1})
		return len(runs) == 1 && runs[0].State.Ended(), err
	})
	got, err := io.ReadAll(reading)
	if err != nil || string(got) != long+"\n" {
		t.Errorf("%d characters of %d arrived, %v", len(got)-1, len(long), err)
	}
	await(t, cmd, new(bytes.Buffer), &stderr)
}

func TestCtrlCDuringChat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"plain", "--json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			hold := make(chan struct{})
			defer close(hold)
			r.up.Script("", fakeai.Script{Text: "half an answer", Chunks: 2, HoldAfter: 1, HoldChunks: hold})
			words := []string{"chat", "one?"}
			if format == "--json" {
				words = append(words, format)
			}
			cmd := r.command(words...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			going := r.requests(1)[0]
			began := time.Now()
			if err := cmd.Process.Signal(interrupt); err != nil {
				t.Fatal(err)
			}
			got := await(t, cmd, &stdout, &stderr)
			prompt(t, "Ctrl-C during chat", time.Since(began))
			if got.code != 130 || !strings.Contains(got.stderr, "parley runs show run_") {
				t.Errorf("exit code %d\n%s", got.code, got.stderr)
			}
			gone(t, going)
			runs, err := r.store().Runs(deadline(t), parley.RunQuery{Principal: principal(), Limit: 10})
			if err != nil || len(runs) != 1 || runs[0].State != parley.StateCancelled {
				t.Errorf("runs: %+v, %v", runs, err)
			}
			r.exactly(1)
		})
	}
}

// The question goes on when its watcher leaves.
func TestCtrlCDuringRunsWaitLeavesTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	hold := make(chan struct{})
	r.up.Script("", fakeai.Script{Text: "done", Hold: hold})
	left := s.ok("processing", "chat", args{"prompt": "one?", "async": true})
	r.requests(1)
	timed := r.run("runs", "wait", "--timeout", "50ms", left.Metadata.RunID)
	if timed.code != 1 || !strings.Contains(timed.stderr, "It goes on") {
		t.Errorf("wait --timeout: exit code %d\n%s%s", timed.code, timed.stdout, timed.stderr)
	}
	close(hold)
	got := r.run("runs", "wait", left.Metadata.RunID)
	if got.code != 0 || !strings.Contains(got.stdout, "done") {
		t.Errorf("wait: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	r.exactly(1)
}
