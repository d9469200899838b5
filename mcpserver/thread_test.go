package mcpserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/fakeai"
)

func TestContinuation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Enqueue("gpt-5-mini", fakeai.Script{Text: "ANSWER-1"}, fakeai.Script{Text: "ANSWER-2"})
	first := b.connect(t, "one").chat("QUESTION-1", "")
	// Another client goes on, and a run's id is as good as its thread's.
	second := b.connect(t, "two").chat("QUESTION-2", first.run())
	if second.thread() != first.thread() || second.at("continuation", "messageCount") != 4.0 {
		t.Errorf("got thread %s, want %s; %v", second.thread(), first.thread(), second.at("continuation"))
	}

	asked := b.up.Requests()
	if len(asked) != 2 {
		t.Fatalf("got %d requests, want 2", len(asked))
	}
	before, after := asked[0].Messages, asked[1].Messages
	if len(before) != 1 || len(after) != 3 || !slices.Equal(after[:1], before) {
		t.Fatalf("the messages of the first request do not begin the second:\n%v\n%v", before, after)
	}
	if asked[0].System != asked[1].System {
		t.Errorf("the system prompt changed:\n%s\n%s", asked[0].System, asked[1].System)
	}
	for i, want := range []struct{ role, text string }{{"user", "QUESTION-1"}, {"assistant", "ANSWER-1"}, {"user", "QUESTION-2"}} {
		if got := after[i]; got.Role != want.role || !strings.Contains(got.Text, want.text) {
			t.Errorf("message %d: got %v, want %v", i, got, want)
		}
		if n := strings.Count(string(asked[1].Body), want.text); n != 1 {
			t.Errorf("%s is there %d times", want.text, n)
		}
	}
}

func TestTenTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: strings.Repeat("answer ", 30)})
	s := b.connect(t, "tester")
	thread := ""
	for i := range 10 {
		thread = s.chat(fmt.Sprintf("question %02d %s", i, strings.Repeat("word ", 40)), thread).thread()
	}
	asked := b.up.Requests()
	step := len(asked[1].Body) - len(asked[0].Body)
	for i := 1; i < len(asked); i++ {
		if n := len(asked[i-1].Messages); !slices.Equal(asked[i].Messages[:n], asked[i-1].Messages) {
			t.Errorf("request %d does not begin with the messages of the one before", i)
		}
		if grown := len(asked[i].Body) - len(asked[i-1].Body); grown > step+16 || grown < step-16 {
			t.Errorf("request %d grew by %d bytes, the first by %d", i, grown, step)
		}
	}
	if other := s.chat("alone", ""); other.thread() == thread {
		t.Error("a new thread has the old one's id")
	}
	if last := b.up.Requests()[10]; len(last.Messages) != 1 || strings.Contains(last.Text(), "question 0") {
		t.Errorf("a new thread sees the old one: %v", last.Messages)
	}
}

func TestAnotherModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "MINI-SAYS"})
	b.up.Script("gpt-5.5", fakeai.Script{Text: "BIG-SAYS"})
	s := b.connect(t, "tester")
	first := s.chat("q1", "")
	second := s.call("chat", fields{"prompt": "q2", "model": "gpt-5.5", "continuation_id": first.thread()})
	if second.isError {
		t.Fatal(second.text)
	}
	seen := b.up.Requests()[1]
	for _, m := range seen.Messages {
		if m.Role == "assistant" {
			t.Errorf("gpt-5.5 is told that it said %q", m.Text)
		}
	}
	if text := seen.Text(); !strings.Contains(text, "MINI-SAYS") || !strings.Contains(text, "[chat | openai/gpt-5-mini answered, quote ") {
		t.Errorf("the other model's answer is not labelled:\n%s", text)
	}
	// Without a model the thread goes on with the one that answered last.
	third := s.call("chat", fields{"prompt": "q3", "continuation_id": first.thread()})
	if third.str("metadata", "model") != "gpt-5.5" || third.str("metadata", "route", "reason") != "thread_model" {
		t.Errorf("got %v", third.at("metadata"))
	}
}

func TestUnansweredStayOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "tester")
	thread := s.chat("FIRST", "").thread()

	b.up.Enqueue("gpt-5-mini", fakeai.Script{Status: http.StatusUnauthorized})
	if r := s.call("chat", fields{"prompt": "FAILED-ONE", "model": model, "continuation_id": thread}); !r.isError {
		t.Fatalf("got %s", r.text)
	}
	b.up.Enqueue("gpt-5-mini", fakeai.Script{Hang: true})
	going := s.call("chat", fields{"prompt": "CANCELLED-ONE", "model": model, "continuation_id": thread, "async": true})
	b.await(t, 3)
	if r := s.call("cancel_job", fields{"continuation_id": going.run()}); r.str("status") != "cancelled" {
		t.Fatalf("got %s", r.text)
	}

	if r := s.chat("LAST", thread); r.at("continuation", "messageCount") != 4.0 {
		t.Errorf("got %v", r.at("continuation"))
	}
	if text := b.up.Requests()[3].Text(); strings.Contains(text, "-ONE") || !strings.Contains(text, "FIRST") {
		t.Errorf("the briefing holds what was not answered:\n%s", text)
	}
}

func TestStrangersThread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.connect(t, "tester").chat("secret", "")
	theirs := setup(t, func(ec *engineConfig, mc *mcpserverConfig) {
		ec.Store, mc.Store, mc.Principal = b.store, b.store, "local:other"
	}).connect(t, "tester")
	for _, id := range []string{mine.thread(), mine.run()} {
		for tool, args := range map[string]fields{
			"chat":         {"prompt": "x", "model": model, "continuation_id": id},
			"check_status": {"continuation_id": id},
			"cancel_job":   {"continuation_id": id},
		} {
			if r := theirs.call(tool, args); !r.isError || strings.Contains(r.text, "secret") {
				t.Errorf("%s %s: got %s", tool, id, r.text)
			}
		}
		if r := theirs.call("check_status", fields{"continuation_id": id, "full_history": true}); !r.isError || strings.Contains(r.text, "secret") {
			t.Errorf("history of %s: got %s", id, r.text)
		}
	}
	if r := theirs.call("check_status", nil); strings.Contains(r.text, "secret") {
		t.Errorf("list: got %s", r.text)
	}
}

func TestStampDate(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.StampDate = true }))
	b.connect(t, "tester").chat("when?", "")
	asked := b.up.Requests()[0]
	if !strings.HasPrefix(asked.Messages[0].Text, "[asked on 2") || strings.Contains(asked.System, "asked on") {
		t.Errorf("got %q", asked.Messages[0].Text)
	}
}
