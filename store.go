package parley

import (
	"context"
	"errors"
	"time"
)

// ErrFenced says that another owner or attempt has the run: stop, keep only
// the cost.
var ErrFenced = errors.New("the run belongs to another owner")

// Store keeps threads and runs. Several processes use one store at once.
//
// Every method returns [*Error] for what a user can understand: a thread or run
// that is not there, a store that cannot be read or written.
type Store interface {
	// Owner is this process's id. It is alive for the others as long as the
	// process is, however it ends.
	Owner() string

	Thread(ctx context.Context, id string) (Thread, error)
	Threads(ctx context.Context, q ThreadQuery) ([]Thread, error)
	// Turns returns the turns of a span in order.
	Turns(ctx context.Context, threadID string, span Span) ([]Turn, error)
	// TurnAfter returns the number of the first turn before which at least
	// tokens have been spent; one past the last turn if there is none.
	TurnAfter(ctx context.Context, threadID string, tokens int64) (int, error)

	// Begin writes a run down, and its thread if begin is not nil. It returns
	// the run as stored: with an idempotency key that was used before, that is
	// the earlier run.
	Begin(ctx context.Context, run Run, begin *Thread) (Run, error)
	Run(ctx context.Context, id string) (Run, error)
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	// Draft returns what a live run has streamed so far, as far as its owner
	// has written it down.
	Draft(ctx context.Context, runID string) (string, error)
	Checkpoints(ctx context.Context, runID string) (map[string][]byte, error)
	// RequestCancel asks whoever owns the run to stop it. A run without a
	// living owner is cancelled at once.
	RequestCancel(ctx context.Context, runID string) error

	// The following are fenced: they fail with ErrFenced if someone else has
	// the run, and have no effect then.

	// Update writes a live run's state, mode and progress.
	Update(ctx context.Context, f Fence, u RunUpdate) error
	AppendDraft(ctx context.Context, f Fence, text string) error
	Checkpoint(ctx context.Context, f Fence, name string, data []byte) error
	// Release gives a live run up, with its draft and checkpoints, for the next
	// process that can take it.
	Release(ctx context.Context, f Fence) error
	// End closes the run and commits its turn, in one transaction, and returns
	// the run as stored.
	End(ctx context.Context, f Fence, e Ending) (Run, error)

	// RecordSpend is not fenced: money that is gone is gone.
	RecordSpend(ctx context.Context, s Spend) error

	// Heartbeat keeps this process's runs.
	Heartbeat(ctx context.Context, now time.Time) error
	// CancelRequests returns those of this process's runs that someone asked to
	// cancel. It only reads.
	CancelRequests(ctx context.Context) ([]string, error)
	// Orphans returns the live runs that no living process works on.
	Orphans(ctx context.Context) ([]Run, error)
	// Claim makes this process the owner of an orphan, as a new attempt. It
	// fails with ErrFenced if someone was faster.
	Claim(ctx context.Context, f Fence, now time.Time) (Run, error)
	// Changed returns when anything in the store may have changed, by whatever
	// process, or when ctx ends.
	Changed(ctx context.Context) error

	// Prune removes what has passed its time.
	Prune(ctx context.Context, p Retention) error
	Close() error
}

// RunUpdate changes a live run. Nil fields stay as they are.
type RunUpdate struct {
	State    *State
	Mode     *Mode
	Progress *Progress
}

// ThreadQuery selects threads, newest first.
type ThreadQuery struct {
	Principal string
	// Project restricts the list; empty for all projects.
	Project string
	Limit   int
}

// RunQuery selects runs, newest first.
type RunQuery struct {
	Principal string
	// ThreadID restricts the list; empty for all threads.
	ThreadID string
	// Live leaves ended runs out.
	Live  bool
	Limit int
}

// Retention says what has passed its time. Zero times keep everything.
type Retention struct {
	// RunsEndedBefore: runs are kept at least three days after they end.
	RunsEndedBefore time.Time
	// ThreadsIdleBefore: threads are kept until deleted unless the user wants a limit.
	ThreadsIdleBefore time.Time
}

// Clock is time, injected.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or the context's error if it ends first.
	Sleep(ctx context.Context, d time.Duration) error
}
