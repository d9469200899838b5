// Package storetest is the one suite that every [parley.Store] passes.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"parley"
)

// Home makes a new, empty store and returns a function that opens it. Each call
// of that function is what another process would have: a store over the same
// data, with an owner of its own that lives until Close. Home closes what was
// opened when the test ends.
type Home func(tb testing.TB) (open func() parley.Store)

// Run runs the suite.
func Run(t *testing.T, home Home) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Home){
		"Threads":             testThreads,
		"ThreadNotFound":      testThreadNotFound,
		"ThreadExists":        testThreadExists,
		"Begin":               testBegin,
		"BeginCancelled":      testBeginCancelled,
		"Idempotency":         testIdempotency,
		"IdempotencyRace":     testIdempotencyRace,
		"Runs":                testRuns,
		"RunNotFound":         testRunNotFound,
		"End":                 testEnd,
		"EndWithoutTurn":      testEndWithoutTurn,
		"TurnAfter":           testTurnAfter,
		"TurnsAtOnce":         testTurnsAtOnce,
		"Update":              testUpdate,
		"Fences":              testFences,
		"Release":             testRelease,
		"Orphans":             testOrphans,
		"ClaimRace":           testClaimRace,
		"ClaimLiving":         testClaimLiving,
		"Draft":               testDraft,
		"Checkpoints":         testCheckpoints,
		"CancelLiving":        testCancelLiving,
		"CancelOrphan":        testCancelOrphan,
		"CancelEnded":         testCancelEnded,
		"Heartbeat":           testHeartbeat,
		"Changed":             testChanged,
		"ChangedEnds":         testChangedEnds,
		"Prune":               testPrune,
		"Closed":              testClosed,
		"StateMachine":        testStateMachine,
		"SpendsSurviveFences": testSpends,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, home)
		})
	}
}

const principal = "alice"

// epoch is when the tests take place. Stores keep milliseconds.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func newThread(id string) parley.Thread {
	return parley.Thread{
		ID: id, Title: "Why is the sky blue?", Principal: principal, Project: "/src/sky", Tool: "chat",
		CreatedAt: epoch, UpdatedAt: epoch,
	}
}

// newRun is a run with every field set that a run has when it begins.
func newRun(s parley.Store, threadID string) parley.Run {
	temperature := 0.5
	options := parley.Options{Effort: parley.EffortHigh, Temperature: &temperature, MaxOutput: 100}
	return parley.Run{
		ID: parley.NewRunID(), ThreadID: threadID, Principal: principal, Project: "/src/sky",
		Tool: "chat", Title: "Why is the sky blue?", State: parley.StateRunning, Mode: parley.ModeAsync,
		Request: parley.Request{
			Tool: "chat", Prompt: "Why is the sky <blue> & \x00 not “green”?", Model: "auto", Options: options,
			Mode: parley.ModeAsync, Caller: parley.Caller{Principal: principal, Session: "s1"},
			Args: json.RawMessage(`{"a":"<b>"}`),
		},
		Seats: []parley.Seat{{
			Decision: parley.Decision{
				Requested: "auto", Chosen: parley.ModelRef{Provider: "demo", Name: "echo"},
				Reason: parley.ReasonOnlyOne, Candidates: []parley.Candidate{{Model: "echo"}},
			},
			Shown: parley.Span{From: 1, Through: 2}, Fingerprint: "f", QuestionTokens: 7, BriefTokens: 12, Options: options,
		}},
		Owner: s.Owner(), Attempt: 1,
		Progress:  parley.Progress{Stage: "asking", Done: 1, Total: 3},
		CreatedAt: epoch,
	}
}

// begin writes a run down on a thread of its own.
func begin(tb testing.TB, s parley.Store) parley.Run {
	tb.Helper()
	return beginWith(tb, s, func(*parley.Run) {})
}

func beginWith(tb testing.TB, s parley.Store, change func(*parley.Run)) parley.Run {
	tb.Helper()
	thread := newThread(parley.NewThreadID())
	run := newRun(s, thread.ID)
	change(&run)
	thread.Principal = run.Principal
	stored, err := s.Begin(tb.Context(), run, &thread)
	must(tb, err)
	return stored
}

// answer is an ending with a turn.
func answer(question string, at time.Time) parley.Ending {
	model := parley.ModelRef{Provider: "demo", Name: "echo"}
	return parley.Ending{
		State:  parley.StateCompleted,
		Result: parley.Result{Content: "Rayleigh.", Model: model, FinishReason: "stop"},
		Turn: &parley.Turn{
			Tool: "chat", Question: question, QuestionTokens: 5, Stamp: "2026-01-02",
			Answers: []parley.Answer{{Model: model, Text: "Rayleigh.", Tokens: 3}}, AskedAt: epoch,
		},
		At: at,
	}
}

// turnTokens is what the turn of answer costs.
var turnTokens = answer("", epoch).Turn.Tokens()

// ask begins and ends a run with a turn on an existing thread.
func ask(ctx context.Context, s parley.Store, threadID, question string) (parley.Run, error) {
	run, err := s.Begin(ctx, newRun(s, threadID), nil)
	if err != nil {
		return parley.Run{}, fmt.Errorf("begin: %w", err)
	}
	return s.End(ctx, run.Fence(), answer(question, epoch.Add(time.Second)))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func wantCode(tb testing.TB, err error, want parley.Code) {
	tb.Helper()
	if got := parley.ErrorCode(err); got != want {
		tb.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func load(tb testing.TB, s parley.Store, id string) parley.Run {
	tb.Helper()
	run, err := s.Run(context.WithoutCancel(tb.Context()), id)
	must(tb, err)
	return run
}

func ids(runs []parley.Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.ID)
	}
	return all
}
