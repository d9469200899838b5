package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func withoutKey(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.env = r.without("OPENAI_API_KEY", "OPENAI_BASE_URL")
	return r
}

func TestWithoutKeyServeStartsAndExplains(t *testing.T) {
	t.Parallel()
	r := withoutKey(t)
	s := r.serve()
	list := s.begin("tools/list", args{}).wait()
	var tools struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(list.Result, &tools); err != nil || len(tools.Tools) < 6 {
		t.Errorf("tools/list: %v, %s", err, list.Result)
	}
	got := s.call("chat", args{"prompt": "anybody there?"})
	if !got.isError || got.Code != "PROVIDER_UNAVAILABLE" || !strings.Contains(got.text, "OPENAI_API_KEY") {
		t.Errorf("chat without a key: %s", got.text)
	}
	if models := s.ok("completed", "listmodels", args{}); !strings.Contains(models.text, "OPENAI_API_KEY") {
		t.Errorf("listmodels without a key: %s", models.text)
	}
	s.ok("completed", "challenge", args{"prompt": "the earth is flat"})
	s.close()
	if !strings.Contains(s.stderr.String(), "parley doctor") {
		t.Errorf("stderr does not say what to do:\n%s", s.stderr.String())
	}
	r.exactly(0)
}

func TestWithoutKeyTheTerminalExplains(t *testing.T) {
	t.Parallel()
	r := withoutKey(t)
	doctor := r.run("doctor")
	if doctor.code != 1 || !strings.Contains(doctor.stdout, "1. export OPENAI_API_KEY") {
		t.Errorf("doctor: exit code %d\n%s%s", doctor.code, doctor.stdout, doctor.stderr)
	}
	chat := r.run("chat", "anybody there?")
	if chat.code != 1 || chat.stdout != "" || !strings.Contains(chat.stderr, "OPENAI_API_KEY") {
		t.Errorf("chat: exit code %d\n%s%s", chat.code, chat.stdout, chat.stderr)
	}
}

func TestDemoShowsTheProduct(t *testing.T) {
	t.Parallel()
	// A key must not bring a real model into the demo.
	r := newRig(t)
	began := time.Now()
	got := r.run("demo")
	took := time.Since(began)
	t.Logf("demo took %s", took.Round(100*time.Millisecond))
	if got.code != 0 || took > 20*time.Second+hung {
		t.Errorf("exit code %d after %s\n%s%s", got.code, took, got.stdout, got.stderr)
	}
	for _, shown := range []string{
		"COMPLETED | CHAT |", "PROCESSING | CHAT |", "kill -9", "takes the run up", "COMPLETED | CHECK_STATUS |", "3 turns",
	} {
		if !strings.Contains(got.stdout, shown) {
			t.Errorf("the demo does not show %q", shown)
		}
	}
	r.exactly(0)
}

func TestServeDemoAutoSaysThatModelsAreSimulated(t *testing.T) {
	t.Parallel()
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		r := withoutKey(t)
		h := r.serveHTTP("--demo", "auto")
		session := connectHTTP(t, h.url)
		result, err := session.CallTool(deadline(t), toolCall("chat", args{"prompt": "hello?"}))
		if err != nil || result.IsError {
			t.Errorf("chat: %v, %+v", err, result)
		}
		h.signal(interrupt)
		h.end()
		if n := countLines(h.stderr.String(), "simulated"); n != 1 {
			t.Errorf("%d lines speak of simulated models, want 1:\n%s", n, h.stderr.String())
		}
	})
	t.Run("a key", func(t *testing.T) {
		t.Parallel()
		h := newRig(t).serveHTTP("--demo", "auto")
		h.signal(interrupt)
		h.end()
		if n := countLines(h.stderr.String(), "simulated"); n != 0 {
			t.Errorf("simulated models although there is a key:\n%s", h.stderr.String())
		}
	})
}

func countLines(text, with string) (n int) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}
