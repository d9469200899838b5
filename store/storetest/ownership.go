package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley"
)

func testFences(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	ended := begin(t, s)
	_, err := s.End(t.Context(), ended.Fence(), answer("q", epoch))
	must(t, err)
	unowned := beginWith(t, s, func(r *parley.Run) { r.Owner, r.State = "", parley.StateQueued })

	queued := parley.StateQueued
	writes := map[string]func(parley.Fence) error{
		"Update":      func(f parley.Fence) error { return s.Update(t.Context(), f, parley.RunUpdate{State: &queued}) },
		"AppendDraft": func(f parley.Fence) error { return s.AppendDraft(t.Context(), f, "x") },
		"Checkpoint":  func(f parley.Fence) error { return s.Checkpoint(t.Context(), f, "x", nil) },
		"Release":     func(f parley.Fence) error { return s.Release(t.Context(), f) },
		"End":         func(f parley.Fence) error { _, err := s.End(t.Context(), f, answer("x", epoch)); return err },
	}
	fences := map[string]parley.Fence{
		"Owner":   {RunID: run.ID, Owner: other.Owner(), Attempt: 1},
		"Attempt": {RunID: run.ID, Owner: s.Owner(), Attempt: 2},
		"Nobody":  {RunID: run.ID, Attempt: 1},
		"Unowned": unowned.Fence(),
		"Ended":   ended.Fence(),
		"Unknown": {RunID: "run_none", Owner: s.Owner(), Attempt: 1},
	}
	before := []parley.Run{load(t, s, run.ID), load(t, s, ended.ID), load(t, s, unowned.ID)}
	for what, write := range writes {
		for which, fence := range fences {
			if err := write(fence); !errors.Is(err, parley.ErrFenced) {
				t.Errorf("%s with the wrong fence %s: got %v, want ErrFenced", what, which, err)
			}
		}
	}
	for _, want := range before {
		if diff := cmp.Diff(want, load(t, s, want.ID)); diff != "" {
			t.Errorf("a fenced write had an effect (-want +got):\n%s", diff)
		}
		draft, err := s.Draft(t.Context(), want.ID)
		must(t, err)
		steps, err := s.Checkpoints(t.Context(), want.ID)
		must(t, err)
		if draft != "" || len(steps) > 0 {
			t.Errorf("a fenced write left the draft %q and the checkpoints %v", draft, steps)
		}
	}
}

func testRelease(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	must(t, s.AppendDraft(t.Context(), run.Fence(), "half"))
	must(t, s.Checkpoint(t.Context(), run.Fence(), "phase", []byte("1")))
	must(t, s.Release(t.Context(), run.Fence()))

	want := run
	want.State, want.Owner = parley.StateQueued, ""
	orphans, err := other.Orphans(t.Context())
	must(t, err)
	if diff := cmp.Diff([]parley.Run{want}, orphans); diff != "" {
		t.Fatalf("orphans (-want +got):\n%s", diff)
	}
	now := run.HeartbeatAt.Add(time.Minute)
	got, err := other.Claim(t.Context(), orphans[0].Fence(), now)
	must(t, err)
	want.State, want.Owner, want.Attempt, want.HeartbeatAt = parley.StateRunning, other.Owner(), 2, now
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	steps, err := other.Checkpoints(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff(map[string][]byte{"phase": []byte("1")}, steps); diff != "" {
		t.Errorf("checkpoints (-want +got):\n%s", diff)
	}

	waited := beginWith(t, s, func(r *parley.Run) { r.Mode = parley.ModeWaited })
	if err := s.Release(t.Context(), waited.Fence()); err == nil || errors.Is(err, parley.ErrFenced) {
		t.Errorf("releasing a run that somebody waits for: got %v", err)
	}
}

func testOrphans(t *testing.T, home Home) {
	open := home(t)
	s, dying := open(), open()
	begin(t, s)
	first, second := begin(t, dying), begin(t, dying)
	over := begin(t, dying)
	_, err := dying.End(t.Context(), over.Fence(), answer("q", epoch))
	must(t, err)
	if orphans, err := s.Orphans(t.Context()); err != nil || len(orphans) > 0 {
		t.Fatalf("while all live: got %v, %v", ids(orphans), err)
	}
	must(t, dying.Close())
	orphans, err := s.Orphans(t.Context())
	must(t, err)
	if diff := cmp.Diff([]parley.Run{first, second}, orphans); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func testClaimRace(t *testing.T, home Home) {
	open := home(t)
	dying := open()
	stores := []parley.Store{open(), open()}
	for range 5 {
		run := beginWith(t, stores[0], func(r *parley.Run) { r.Owner = dying.Owner() })
		if run.Owner != dying.Owner() {
			t.Fatal("the run has another owner than it was given")
		}
	}
	must(t, dying.Close())
	orphans, err := stores[0].Orphans(t.Context())
	must(t, err)
	if len(orphans) != 5 {
		t.Fatalf("got %d orphans, want 5", len(orphans))
	}
	for _, orphan := range orphans {
		var group sync.WaitGroup
		results := make([]error, 2*len(stores))
		for i := range results {
			group.Go(func() { _, results[i] = stores[i%2].Claim(t.Context(), orphan.Fence(), epoch) })
		}
		group.Wait()
		won := 0
		for _, err := range results {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, parley.ErrFenced):
				t.Errorf("claim: %v", err)
			}
		}
		if got := load(t, stores[0], orphan.ID); won != 1 || got.Attempt != 2 {
			t.Errorf("%d claims won, and the run is at attempt %d", won, got.Attempt)
		}
	}
}

func testClaimLiving(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	for _, claimer := range []parley.Store{s, other} {
		if _, err := claimer.Claim(t.Context(), run.Fence(), epoch); !errors.Is(err, parley.ErrFenced) {
			t.Errorf("claiming a living owner's run: got %v, want ErrFenced", err)
		}
	}
	_, err := s.Claim(t.Context(), parley.Fence{RunID: "run_none"}, epoch)
	wantCode(t, err, parley.CodeRunNotFound)
}

func testDraft(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	expect := func(want string) {
		t.Helper()
		got, err := other.Draft(t.Context(), run.ID)
		must(t, err)
		if got != want {
			t.Errorf("got draft %q, want %q", got, want)
		}
	}
	expect("")
	must(t, s.AppendDraft(t.Context(), run.Fence(), "one "))
	must(t, s.AppendDraft(t.Context(), run.Fence(), "\xe2")) // chunks may cut runes
	must(t, s.AppendDraft(t.Context(), run.Fence(), "\x82\xac\x00"))
	expect("one €\x00")
	must(t, s.Release(t.Context(), run.Fence()))
	claimed, err := other.Claim(t.Context(), load(t, s, run.ID).Fence(), epoch)
	must(t, err)
	expect("one €\x00")
	must(t, other.AppendDraft(t.Context(), claimed.Fence(), "two"))
	expect("two")
}

func testCheckpoints(t *testing.T, home Home) {
	s := home(t)()
	run := begin(t, s)
	must(t, s.Checkpoint(t.Context(), run.Fence(), "a", []byte("1")))
	must(t, s.Checkpoint(t.Context(), run.Fence(), "b", []byte{0, 0xff}))
	must(t, s.Checkpoint(t.Context(), run.Fence(), "a", []byte("2")))
	got, err := s.Checkpoints(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff(map[string][]byte{"a": []byte("2"), "b": {0, 0xff}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func testCancelLiving(t *testing.T, home Home) {
	open := home(t)
	s, other := open(), open()
	run := begin(t, s)
	begin(t, s)
	must(t, other.RequestCancel(t.Context(), run.ID))
	got, err := s.CancelRequests(t.Context())
	must(t, err)
	if diff := cmp.Diff([]string{run.ID}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := other.CancelRequests(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("another's runs: got %v, %v", got, err)
	}
	if got := load(t, s, run.ID); got.State != parley.StateRunning || !got.CancelRequested {
		t.Errorf("the run is %s, cancel requested %t; want it running until its owner stops it", got.State, got.CancelRequested)
	}
}

func testCancelOrphan(t *testing.T, home Home) {
	open := home(t)
	s, dying := open(), open()
	unowned := beginWith(t, s, func(r *parley.Run) { r.Owner, r.State = "", parley.StateQueued })
	run := begin(t, dying)
	must(t, dying.AppendDraft(t.Context(), run.Fence(), "half"))
	must(t, dying.Close())
	for id, content := range map[string]string{run.ID: "half", unowned.ID: ""} {
		must(t, s.RequestCancel(t.Context(), id))
		got := load(t, s, id)
		if got.State != parley.StateCancelled || got.EndedAt.IsZero() {
			t.Errorf("the run is %s, ended at %v", got.State, got.EndedAt)
		}
		if got.Result == nil || got.Result.Content != content {
			t.Errorf("the result is %+v, want the draft %q", got.Result, content)
		}
		if got.Err == nil || got.Err.Code != parley.CodeCancelled {
			t.Errorf("the error is %v, want %s", got.Err, parley.CodeCancelled)
		}
	}
}

func testCancelEnded(t *testing.T, home Home) {
	s := home(t)()
	run, err := s.End(t.Context(), begin(t, s).Fence(), answer("q", epoch))
	must(t, err)
	must(t, s.RequestCancel(t.Context(), run.ID))
	if diff := cmp.Diff(run, load(t, s, run.ID)); diff != "" {
		t.Errorf("an ended run changed (-want +got):\n%s", diff)
	}
}
