package mcpserver_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

var processing = regexp.MustCompile(`^PROCESSING \| CHAT \| conv_[a-z2-7]{26} \| 0/1 \| Started \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \| openai/gpt-5-mini$`)

func TestAsync(t *testing.T) {
	t.Parallel()
	b := setup(t)
	goOn := make(chan struct{})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two three four", Chunks: 4, HoldAfter: 2, HoldChunks: goOn})
	s := b.connect(t, "stranger")

	began := s.call("chat", fields{"prompt": "count", "model": model, "async": true})
	if began.isError || !processing.MatchString(began.head()) || !strings.Contains(began.last(), began.run()) {
		t.Errorf("got %s", began.text)
	}
	if began.str("status") != "processing" || began.at("async_execution") != true || began.str("continuation", "id") == "" || began.run() == "" {
		t.Errorf("got %v", began.structured)
	}

	for _, id := range []string{began.run(), began.thread()} {
		going := s.status(id, func(r reply) bool { return r.str("content") != "" })
		if !processing.MatchString(going.head()) || going.str("status") != "processing" || going.run() != began.run() ||
			!strings.HasPrefix("one two three four", going.str("content")) || !strings.Contains(going.text, "\n\none") {
			t.Errorf("asking with %s: got %s %v", id, going.text, going.structured)
		}
		run := going.at("run").(fields)
		progress, _ := run["progress"].(fields)
		if run["id"] != began.run() || run["tool"] != "chat" || run["started_at"] == "" || run["elapsed_seconds"] == nil ||
			progress["total"] != 1.0 || progress["done"] != 0.0 || progress["stage"] == "" {
			t.Errorf("run: got %v", run)
		}
	}
	// Waiting a little does not make an end of it, and is no error.
	if r := s.call("check_status", fields{"continuation_id": began.run(), "wait_seconds": 0.01}); r.isError || r.str("status") != "processing" {
		t.Errorf("got %s", r.text)
	}

	close(goOn)
	done := s.call("check_status", fields{"continuation_id": began.run(), "wait_seconds": 60})
	if done.isError || done.str("status") != "completed" || done.str("content") != "one two three four" ||
		!strings.HasPrefix(done.head(), "COMPLETED | CHAT | "+began.thread()+" | "+model) {
		t.Errorf("got %s %v", done.text, done.structured)
	}
	if diff := cmp.Diff(fields{"done": 1.0, "total": 1.0, "stage": "done"}, done.at("run", "progress")); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if r := s.chat("more", began.thread()); r.at("continuation", "messageCount") != 4.0 {
		t.Errorf("got %v", r.at("continuation"))
	}
}

func TestRecentRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "stranger")
	empty := s.call("check_status", nil)
	if runs, ok := empty.at("runs").([]any); !ok || len(runs) != 0 || !strings.Contains(empty.text, "No runs yet") {
		t.Errorf("without runs: got %s %v", empty.text, empty.structured)
	}

	var newest reply
	for i := range 12 {
		newest = s.chat(fmt.Sprintf("question %d", i), "")
	}
	list := s.call("check_status", fields{})
	runs, _ := list.at("runs").([]any)
	if list.str("status") != "completed" || len(runs) != 10 || list.head() != "COMPLETED | CHECK_STATUS | 10 runs" {
		t.Fatalf("got %d runs: %s", len(runs), list.text)
	}
	first := runs[0].(fields)
	if _, ok := first["elapsed_seconds"].(float64); !ok || first["started_at"] == "" {
		t.Errorf("times: got %v", first)
	}
	delete(first, "elapsed_seconds")
	delete(first, "started_at")
	if diff := cmp.Diff(fields{
		"run_id": newest.run(), "continuation_id": newest.thread(), "tool": "chat", "status": "completed",
		"model": model, "title": "question 11",
	}, first); diff != "" {
		t.Errorf("newest (-want +got):\n%s", diff)
	}
	if !strings.Contains(list.text, newest.run()) || !strings.Contains(list.text, "question 2") || strings.Contains(list.text, "question 1\n") {
		t.Errorf("text: got %s", list.text)
	}
}

func TestFullHistory(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.MaxChars = 2000 }))
	b.up.Script("gpt-5-mini", fakeai.Script{Reply: func(r *fakeai.Request) string {
		return "Answer to " + r.Messages[len(r.Messages)-1].Text + ". " + strings.Repeat("So it is. ", 40)
	}})
	s := b.connect(t, "stranger")
	thread := s.chat("q1", "").thread()
	run := s.chat("q2", thread).run()

	r := s.call("check_status", fields{"continuation_id": run, "full_history": true})
	turns, _ := r.at("turns").([]any)
	if r.isError || len(turns) != 2 || r.thread() != thread || r.head() != "COMPLETED | CHECK_STATUS | "+thread+" | 2 turns" {
		t.Fatalf("got %s %v", r.text, r.structured)
	}
	second := turns[1].(fields)
	if second["turn"] != 2.0 || second["question"] != "q2" || second["model"] != model || second["tool"] != "chat" ||
		!strings.HasPrefix(second["answer"].(string), "Answer to q2. So it is.") {
		t.Errorf("got %v", second)
	}
	for _, want := range []string{"q1", "Answer to q1", "q2", "Answer to q2"} {
		if !strings.Contains(r.text, want) {
			t.Errorf("%q is not in the text", want)
		}
	}

	// A long thread comes in pieces, like a long answer, and the way on is given.
	for i := range 4 {
		s.chat(fmt.Sprintf("again %d", i), thread)
	}
	var pieces strings.Builder
	at := thread
	for range 10 {
		r = s.call("check_status", fields{"continuation_id": at, "full_history": true})
		pieces.WriteString(r.str("content"))
		if len(r.text) > 2000 || r.at("turns") != nil {
			t.Errorf("a piece has %d bytes and turns %v", len(r.text), r.at("turns"))
		}
		next := readOn.FindStringSubmatch(r.text)
		if next == nil {
			break
		}
		if at = next[1]; !strings.HasPrefix(at, thread+":") || !strings.Contains(next[0], "full_history: true") {
			t.Errorf("got %q, want the thread's id and full_history", next[0])
		}
	}
	whole := pieces.String()
	if !strings.Contains(whole, "Answer to q1") || !strings.Contains(whole, "Answer to again 3") || strings.Count(whole, "So it is.") != 240 {
		t.Errorf("reassembled: %s", whole)
	}
}

func TestCancelJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "first second", Chunks: 2, HangAfter: 1})
	s := b.connect(t, "stranger")
	start := func(thread string) reply {
		args := fields{"prompt": "hang", "model": model, "async": true}
		if thread != "" {
			args["continuation_id"] = thread
		}
		return s.call("chat", args)
	}

	one := start("")
	s.status(one.run(), func(r reply) bool { return r.str("content") != "" })
	r := s.call("cancel_job", fields{"continuation_id": one.run()})
	if r.isError || r.str("status") != "cancelled" || r.str("code") != "CANCELLED" || r.str("run", "id") != one.run() ||
		!strings.HasPrefix(r.head(), "CANCELLED | CHAT | "+one.thread()+" | "+model) || r.str("content") == "" {
		t.Errorf("by run: got %s %v", r.text, r.structured)
	}
	if !strings.Contains(r.last(), one.thread()) {
		t.Errorf("the last line does not offer the continuation: %q", r.last())
	}
	wait(t, "the end of the upstream request", b.up.Requests()[0].Gone())

	// Again: an answer that says so, not an error.
	r = s.call("cancel_job", fields{"continuation_id": one.run()})
	if r.isError || r.str("status") != "cancelled" || !strings.Contains(r.text, "Nothing was cancelled") {
		t.Errorf("again: got %s", r.text)
	}

	// A thread's id stops all its live runs, and no others.
	other := start("")
	two, three := start(one.thread()), start(one.thread())
	asked := b.await(t, 4)
	r = s.call("cancel_job", fields{"continuation_id": one.thread()})
	if r.isError || !strings.Contains(r.text, "2 runs of this thread were cancelled") {
		t.Errorf("by thread: got %s", r.text)
	}
	for _, run := range []string{two.run(), three.run()} {
		if r := s.call("check_status", fields{"continuation_id": run}); r.isError || r.str("status") != "cancelled" {
			t.Errorf("%s: got %s", run, r.text)
		}
	}
	if r := s.call("check_status", fields{"continuation_id": other.run()}); r.str("status") != "processing" {
		t.Errorf("another thread's run: got %s", r.text)
	}
	s.call("cancel_job", fields{"continuation_id": other.run()})
	for _, r := range asked {
		wait(t, "the end of an upstream request", r.Gone())
	}

	b.up.Script("gpt-5-mini", fakeai.Script{Text: "done"})
	done := s.chat("quick", "")
	r = s.call("cancel_job", fields{"continuation_id": done.thread()})
	if r.isError || r.str("status") != "completed" || !strings.Contains(r.text, "Nothing was cancelled") || r.str("content") != "done" {
		t.Errorf("ended run: got %s", r.text)
	}
}

func TestFailedRunStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Status: http.StatusUnauthorized})
	s := b.connect(t, "stranger")
	began := s.call("chat", fields{"prompt": "x", "model": model, "async": true})
	r := s.call("check_status", fields{"continuation_id": began.thread(), "wait_seconds": 60})
	if r.isError || r.str("status") != "failed" || r.str("code") != "AUTHENTICATION_FAILED" ||
		!strings.HasPrefix(r.head(), "FAILED | CHAT | AUTHENTICATION_FAILED | "+began.thread()+" | "+model) {
		t.Errorf("got isError %v %s %v", r.isError, r.text, r.structured)
	}
	if stage := r.str("run", "progress", "stage"); stage != "failed" {
		t.Errorf("stage: got %q", stage)
	}
	if list := s.call("check_status", nil); !strings.Contains(list.text, "FAILED | CHAT | "+began.run()) {
		t.Errorf("list: got %s", list.text)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "stranger")
	args := fields{"prompt": "once", "model": model, "idempotency_key": "k1"}
	first, second := s.call("chat", args), s.call("chat", args)
	if first.run() != second.run() || second.str("content") != "ECHO: once" || len(b.up.Requests()) != 1 {
		t.Errorf("got %s and %s, %d requests", first.text, second.text, len(b.up.Requests()))
	}
}
