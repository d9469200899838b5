package engine

import (
	"context"
	"sync"

	"parley"
)

// live is a run while this process works on it.
type live struct {
	// run is the run as it was written down when this process got it, and fence
	// the permit to write; neither changes. What changes is below, under mu.
	run    parley.Run
	fence  parley.Fence
	cancel context.CancelCauseFunc
	// before is the draft of an earlier attempt, which counts until this one
	// has its own.
	before string
	// done is closed when the run has left this process: ended, released, or
	// lost to another owner.
	done chan struct{}

	mu       sync.Mutex
	state    parley.State
	mode     parley.Mode
	progress parley.Progress
	draft    []byte
	// changed is closed and replaced whenever draft or progress change.
	changed chan struct{}
	// ended is set before done is closed, if the run ended here.
	ended *parley.Run
	// unsaved is the mode that the store does not know yet.
	unsaved bool
}

func newLive(run parley.Run, before string, cancel context.CancelCauseFunc) *live {
	return &live{
		run: run, fence: run.Fence(), before: before, cancel: cancel,
		state: run.State, mode: run.Mode, progress: run.Progress,
		done: make(chan struct{}), changed: make(chan struct{}),
	}
}

func (l *live) append(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draft = append(l.draft, text...)
	l.notify()
}

func (l *live) stage(p parley.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress = p
	l.notify()
}

// notify is called with mu held.
func (l *live) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// since returns this attempt's draft from an offset on, and a channel that is
// closed at the next change.
func (l *live) since(offset int) (text string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.draft[offset:]), l.changed
}

// size is the length of this attempt's draft, and a channel that is closed at
// the next change.
func (l *live) size() (n int, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.draft), l.changed
}

// soFar is what the run has: the draft, or that of the attempt before.
func (l *live) soFar() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.draft) == 0 {
		return l.before
	}
	return string(l.draft)
}

// tail is the end of the draft, cut to n bytes, and the progress.
func (l *live) tail(n int) (string, parley.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.draft[max(0, len(l.draft)-n):]), l.progress
}

// view is the run as it stands now.
func (l *live) view() parley.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return *l.ended
	}
	run := l.run
	run.State, run.Mode, run.Progress = l.state, l.mode, l.progress
	return run
}

// setMode changes the mode; saved says whether the store knows.
func (l *live) setMode(m parley.Mode, saved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode, l.unsaved = m, !saved
}

// unsavedMode returns the mode that the store has still to be told.
func (l *live) unsavedMode() (parley.Mode, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mode, l.unsaved && l.ended == nil
}

func (l *live) setState(s parley.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
}

// finish says how the run left this process and wakes everybody. A nil run
// means that it goes on elsewhere.
func (l *live) finish(run *parley.Run) {
	l.mu.Lock()
	l.ended = run
	l.notify()
	l.mu.Unlock()
	close(l.done)
}
