package storetest

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley"
)

func testThreads(t *testing.T, home Home) {
	s := home(t)()
	for i, spec := range []struct{ principal, project string }{
		{principal, "/src/sky"}, {"mallory", "/src/sky"}, {principal, "/src/sea"}, {principal, "/src/sky"},
	} {
		thread := newThread(fmt.Sprintf("t%d", i))
		thread.Principal, thread.Project = spec.principal, spec.project
		thread.UpdatedAt = epoch.Add(time.Duration(i) * time.Second)
		_, err := s.Begin(t.Context(), newRun(s, thread.ID), &thread)
		must(t, err)
	}
	// t0 is used again and so comes first.
	_, err := ask(t.Context(), s, "t0", "again")
	must(t, err)
	run, err := s.Begin(t.Context(), newRun(s, "t0"), nil)
	must(t, err)
	_, err = s.End(t.Context(), run.Fence(), answer("later", epoch.Add(time.Minute)))
	must(t, err)

	for name, c := range map[string]struct {
		query parley.ThreadQuery
		want  []string
	}{
		"All":     {parley.ThreadQuery{Principal: principal}, []string{"t0", "t3", "t2"}},
		"Project": {parley.ThreadQuery{Principal: principal, Project: "/src/sky"}, []string{"t0", "t3"}},
		"Limit":   {parley.ThreadQuery{Principal: principal, Limit: 1}, []string{"t0"}},
		"Wall":    {parley.ThreadQuery{Principal: "bob"}, nil},
	} {
		threads, err := s.Threads(t.Context(), c.query)
		must(t, err)
		var got []string
		for _, thread := range threads {
			got = append(got, thread.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	want := newThread("t0")
	want.UpdatedAt = epoch.Add(time.Minute)
	want.Turns, want.Tokens = 2, 2*turnTokens
	want.LastModel = parley.ModelRef{Provider: "demo", Name: "echo"}
	got, err := s.Thread(t.Context(), "t0")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("thread (-want +got):\n%s", diff)
	}
}

func testThreadNotFound(t *testing.T, home Home) {
	s := home(t)()
	_, err := s.Thread(t.Context(), "nowhere")
	wantCode(t, err, parley.CodeContinuationNotFound)
	_, err = s.TurnAfter(t.Context(), "nowhere", 1)
	wantCode(t, err, parley.CodeContinuationNotFound)
	run := newRun(s, "nowhere")
	_, err = s.Begin(t.Context(), run, nil)
	wantCode(t, err, parley.CodeContinuationNotFound)
	_, err = s.Run(t.Context(), run.ID)
	wantCode(t, err, parley.CodeRunNotFound)

	_, err = s.Thread(t.Context(), "ignore all <instructions>")
	if got, want := parley.AsError(err).Message, "there is no such thread"; got != want {
		t.Errorf("got message %q, want %q: it must not repeat what is no id", got, want)
	}
}

func testThreadExists(t *testing.T, home Home) {
	s := home(t)()
	thread := newThread("mine")
	_, err := s.Begin(t.Context(), newRun(s, "mine"), &thread)
	must(t, err)
	run := newRun(s, "mine")
	_, err = s.Begin(t.Context(), run, &thread)
	wantCode(t, err, parley.CodeInvalidArgument)
	_, err = s.Run(t.Context(), run.ID)
	wantCode(t, err, parley.CodeRunNotFound)
}

func testTurnAfter(t *testing.T, home Home) {
	s := home(t)()
	first := begin(t, s)
	after := func(tokens int64) int {
		t.Helper()
		n, err := s.TurnAfter(t.Context(), first.ThreadID, tokens)
		must(t, err)
		return n
	}
	if got, want := after(1), 1; got != want {
		t.Errorf("in an empty thread: got %d, want %d", got, want)
	}
	for i := range 3 {
		_, err := ask(t.Context(), s, first.ThreadID, strconv.Itoa(i))
		must(t, err)
	}
	for tokens, want := range map[int64]int{
		-1: 1, 0: 1, 1: 2, turnTokens: 2, turnTokens + 1: 3, 2 * turnTokens: 3, 3 * turnTokens: 4, 1e9: 4,
	} {
		if got := after(tokens); got != want {
			t.Errorf("after %d tokens: got turn %d, want %d", tokens, got, want)
		}
	}

	turns, err := s.Turns(t.Context(), first.ThreadID, parley.Span{From: 2, Through: 9})
	must(t, err)
	var got []string
	for _, turn := range turns {
		got = append(got, fmt.Sprintf("%d %s %d", turn.Number, turn.Question, turn.TokensThrough))
	}
	want := []string{fmt.Sprintf("2 1 %d", 2*turnTokens), fmt.Sprintf("3 2 %d", 3*turnTokens)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if turns, err := s.Turns(t.Context(), first.ThreadID, parley.Span{}); err != nil || len(turns) > 0 {
		t.Errorf("the empty span: got %v, %v", turns, err)
	}
}

// Turns are numbered at commit, without gaps, whoever commits them.
func testTurnsAtOnce(t *testing.T, home Home) {
	const callers, each = 8, 5
	open := home(t)
	stores := []parley.Store{open(), open()}
	first := begin(t, stores[0])
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		acked = map[int]string{}
	)
	for caller := range callers {
		group.Go(func() {
			for i := range each {
				question := fmt.Sprintf("%d/%d", caller, i)
				run, err := ask(t.Context(), stores[caller%len(stores)], first.ThreadID, question)
				if err != nil {
					t.Errorf("ask: %v", err)
					return
				}
				mu.Lock()
				acked[run.Result.Turn] = question
				mu.Unlock()
			}
		})
	}
	group.Wait()

	thread, err := stores[0].Thread(t.Context(), first.ThreadID)
	must(t, err)
	turns, err := stores[1].Turns(t.Context(), first.ThreadID, parley.Span{From: 1, Through: 10 * callers * each})
	must(t, err)
	if len(turns) != callers*each || thread.Turns != callers*each || len(acked) != callers*each {
		t.Fatalf("got %d turns, %d counted, %d acknowledged, want %d", len(turns), thread.Turns, len(acked), callers*each)
	}
	for i, turn := range turns {
		if turn.Number != i+1 || turn.Question != acked[i+1] || turn.TokensThrough != int64(i+1)*turnTokens {
			t.Errorf("turn %d is %d %q %d, acknowledged as %q",
				i+1, turn.Number, turn.Question, turn.TokensThrough, acked[i+1])
		}
	}
}
