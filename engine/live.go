package engine

import (
	"context"
	"sync"

	"parley"
)

// live is a run while this process works on it.
type live struct {
	id     string
	cancel context.CancelCauseFunc
	// done is closed when the run has left this process: ended and recorded,
	// released, or lost to another owner.
	done chan struct{}

	mu       sync.Mutex
	run      parley.Run
	draft    []byte
	progress parley.Progress
	// changed is closed and replaced whenever draft or progress change.
	changed chan struct{}
	// ended is set before done is closed, if the run ended here. Its error says
	// that the ending could not be stored.
	ended    *parley.Run
	endedErr error
}

func newLive(run parley.Run, cancel context.CancelCauseFunc) *live {
	return &live{
		id: run.ID, run: run, cancel: cancel, progress: run.Progress,
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

// since returns the draft from an offset on, and a channel that is closed at
// the next change.
func (l *live) since(offset int) (text string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.draft[offset:]), l.changed
}

// size is the length of the draft, and a channel that is closed at the next
// change.
func (l *live) size() (n int, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.draft), l.changed
}

// view is the run as it stands now.
func (l *live) view() parley.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return *l.ended
	}
	run := l.run
	run.Progress = l.progress
	return run
}

func (l *live) setMode(m parley.Mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.Mode = m
}

func (l *live) setState(s parley.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.State = s
}

// finish says how the run left this process and wakes everybody. A nil run
// means that it goes on elsewhere.
func (l *live) finish(run *parley.Run, err error) {
	l.mu.Lock()
	l.ended, l.endedErr = run, err
	l.notify()
	l.mu.Unlock()
	close(l.done)
}
