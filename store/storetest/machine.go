package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley"
)

// model is what a run should be, in the simplest words.
type model struct {
	State   parley.State
	Owner   string
	Attempt int
	Cancel  bool
	// Draft is the newest attempt's that has one.
	Draft   string
	DraftOf int
	Steps   int
	Turns   int
}

func (m *model) holds(f parley.Fence) bool {
	return !m.State.Ended() && f.Owner != "" && f.Owner == m.Owner && f.Attempt == m.Attempt
}

// testStateMachine does random things to runs from two processes, with current
// and outdated fences. A run never leaves an ended state, never ends twice, and
// fenced writes have no effect.
func testStateMachine(t *testing.T, home Home) {
	open := home(t)
	stores := []parley.Store{open(), open()}
	ctx := t.Context()
	rapid.Check(t, func(rt *rapid.T) {
		thread := newThread(parley.NewThreadID())
		run := newRun(stores[0], thread.ID)
		if _, err := stores[0].Begin(ctx, run, &thread); err != nil {
			rt.Fatal(err)
		}
		m := &machine{
			stores: stores, run: run, fences: []parley.Fence{run.Fence()},
			model: model{State: run.State, Owner: run.Owner, Attempt: run.Attempt},
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			m.step(ctx, rt)
			m.compare(ctx, rt)
		}
	})
}

type machine struct {
	stores []parley.Store
	run    parley.Run
	// fences are all that anyone has ever held.
	fences []parley.Fence
	model  model
}

func (m *machine) step(ctx context.Context, rt *rapid.T) {
	s := rapid.SampledFrom(m.stores).Draw(rt, "store")
	f := rapid.SampledFrom(m.fences).Draw(rt, "fence")
	before := m.model
	may := before.holds(f)
	var err error
	switch op := rapid.SampledFrom([]string{
		"update", "append", "append", "checkpoint", "release", "claim", "claim", "end", "fail", "cancel",
	}).Draw(rt, "op"); op {
	case "update":
		state := parley.StateQueued
		if err = s.Update(ctx, f, parley.RunUpdate{State: &state}); may {
			m.model.State = state
		}
	case "append":
		if err = s.AppendDraft(ctx, f, "x"); may {
			if before.DraftOf != f.Attempt {
				m.model.Draft, m.model.DraftOf = "", f.Attempt
			}
			m.model.Draft += "x"
		}
	case "checkpoint":
		if err = s.Checkpoint(ctx, f, "step", nil); may {
			m.model.Steps = 1
		}
	case "release":
		if err = s.Release(ctx, f); may {
			m.model.State, m.model.Owner = parley.StateQueued, ""
			m.fences = append(m.fences, parley.Fence{RunID: m.run.ID, Attempt: f.Attempt})
		}
	case "claim":
		// Both processes live, so that only a released run can be claimed.
		may = !before.State.Ended() && before.Owner == "" && f.Owner == "" && f.Attempt == before.Attempt
		if _, err = s.Claim(ctx, f, epoch); may {
			m.model.State, m.model.Owner, m.model.Attempt = parley.StateRunning, s.Owner(), f.Attempt+1
			m.fences = append(m.fences, parley.Fence{RunID: m.run.ID, Owner: s.Owner(), Attempt: f.Attempt + 1})
		}
	case "end":
		if _, err = s.End(ctx, f, answer("q", epoch)); may {
			m.model.end(parley.StateCompleted)
			m.model.Turns = 1
		}
	case "fail":
		if _, err = s.End(ctx, f, parley.Ending{State: parley.StateFailed, At: epoch}); may {
			m.model.end(parley.StateFailed)
		}
	case "cancel":
		may = true
		err = s.RequestCancel(ctx, m.run.ID)
		switch {
		case before.State.Ended():
		case before.Owner == "":
			m.model.end(parley.StateCancelled)
		default:
			m.model.Cancel = true
		}
	}
	switch {
	case may && err != nil:
		rt.Fatalf("refused: %v", err)
	case !may && !errors.Is(err, parley.ErrFenced):
		rt.Fatalf("got %v, want ErrFenced", err)
	}
}

func (m *model) end(state parley.State) {
	m.State, m.Draft, m.DraftOf, m.Steps = state, "", 0, 0
}

func (m *machine) compare(ctx context.Context, rt *rapid.T) {
	s := rapid.SampledFrom(m.stores).Draw(rt, "reader")
	run, err := s.Run(ctx, m.run.ID)
	if err != nil {
		rt.Fatal(err)
	}
	draft, err := s.Draft(ctx, run.ID)
	if err != nil {
		rt.Fatal(err)
	}
	steps, err := s.Checkpoints(ctx, run.ID)
	if err != nil {
		rt.Fatal(err)
	}
	thread, err := s.Thread(ctx, run.ThreadID)
	if err != nil {
		rt.Fatal(err)
	}
	got := model{
		State: run.State, Owner: run.Owner, Attempt: run.Attempt, Cancel: run.CancelRequested,
		Draft: draft, DraftOf: m.model.DraftOf, Steps: len(steps), Turns: thread.Turns,
	}
	if diff := cmp.Diff(m.model, got); diff != "" {
		rt.Fatalf("the run is not what it should be (-want +got):\n%s", diff)
	}
	if run.State.Ended() != (run.Result != nil) || run.State.Ended() != !run.EndedAt.IsZero() {
		rt.Fatalf("a run that is %s has the result %v and the end %v", run.State, run.Result, run.EndedAt)
	}
}
