package parley

import (
	"encoding/json"
	"time"
)

// State is where a run stands. A run is in exactly one state, and an ended one
// never changes again.
type State string

// The states, as the store keeps them.
const (
	StateQueued              State = "queued"
	StateRunning             State = "running"
	StateCompleted           State = "completed"
	StateCompletedWithErrors State = "completed_with_errors"
	StateFailed              State = "failed"
	StateCancelled           State = "cancelled"
	// StateInterrupted: its process died and nobody could take it up.
	StateInterrupted State = "interrupted"
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s != StateQueued && s != StateRunning }

// Answered reports whether the run's answer became a turn.
func (s State) Answered() bool { return s == StateCompleted || s == StateCompletedWithErrors }

// Mode says who is waiting for a run, and so what becomes of it when its
// process dies.
type Mode string

// A waited run ends interrupted with its process; the others are taken up by
// the next process that can.
const (
	ModeWaited     Mode = "waited"
	ModeHandedOver Mode = "handed_over"
	ModeAsync      Mode = "async"
)

// Outlives reports whether the run goes on when its caller is gone.
func (m Mode) Outlives() bool { return m == ModeAsync || m == ModeHandedOver }

// Run is one piece of work on a thread, as it is written down.
type Run struct {
	ID        string
	ThreadID  string
	Principal string
	Project   string
	Tool      string
	Title     string
	State     State
	Mode      Mode
	Request   Request
	// Seats are the models the plan asks, with how each was chosen and which
	// turns it is shown. They are fixed before the run starts, so that whoever
	// takes the run up sends the same requests.
	Seats []Seat

	// Owner is the process that works on the run; empty if none does. Together
	// with Attempt it fences every write.
	Owner   string
	Attempt int
	// CancelRequested is how one process asks another to stop a run.
	CancelRequested bool

	Progress    Progress
	CreatedAt   time.Time
	HeartbeatAt time.Time
	EndedAt     time.Time

	// Result is set when the run has ended, in every state: a failed run keeps
	// what it had.
	Result *Result
	Err    *Error
}

// Fence returns the run's write permit.
func (r Run) Fence() Fence { return Fence{RunID: r.ID, Owner: r.Owner, Attempt: r.Attempt} }

// Elapsed is the time the run has taken so far, or took.
func (r Run) Elapsed(now time.Time) time.Duration {
	if !r.EndedAt.IsZero() {
		now = r.EndedAt
	}
	return max(0, now.Sub(r.CreatedAt))
}

// Fence identifies one owner's attempt at one run. A write with a fence that
// no longer holds is refused with [ErrFenced].
type Fence struct {
	RunID   string
	Owner   string
	Attempt int
}

// Progress is how far a run is, for people.
type Progress struct {
	Stage string `json:"stage"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	// Asked counts the upstream requests of each seat, as far as they were
	// written down: the first of each attempt goes without saying.
	Asked []int `json:"asked,omitempty"`
}

// Seat is one model that a run asks.
type Seat struct {
	Decision Decision `json:"decision"`
	// Shown are the earlier turns in the seat's briefing.
	Shown Span `json:"shown"`
	// Fingerprint identifies endpoint and account. Only a process with the same
	// fingerprint may take the run up.
	Fingerprint string `json:"fingerprint"`
	// QuestionTokens is the counted size of the question, BriefTokens that of
	// the whole briefing.
	QuestionTokens int `json:"question_tokens"`
	BriefTokens    int `json:"brief_tokens"`
	// MaxOutput is the limit sent upstream; zero leaves it to the provider.
	MaxOutput int `json:"max_output,omitempty"`
	// Options are the request's, fitted to what the model takes.
	Options Options  `json:"options"`
	Notes   []string `json:"notes,omitempty"`
}

// Result is what a run produced.
type Result struct {
	// Content is the whole answer as text.
	Content string `json:"content"`
	// Answers become the turn, if the run was answered.
	Answers      []Answer  `json:"-"`
	Model        ModelRef  `json:"model"`
	Usage        Usage     `json:"usage"`
	FinishReason string    `json:"finish_reason,omitempty"`
	Attempts     []Attempt `json:"attempts,omitempty"`
	Notes        []string  `json:"notes,omitempty"`
	// Turn is the number the answer was committed as; zero if it was not.
	Turn int `json:"turn,omitempty"`
	// Messages counts the thread's messages after the commit.
	Messages int `json:"messages,omitempty"`
	// Extra holds a tool's own fields of the structured answer.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Attempt is one upstream request.
type Attempt struct {
	Model string `json:"model"`
	// Outcome is "ok" or an error code.
	Outcome string `json:"outcome"`
	Millis  int64  `json:"ms,omitempty"`
}

// Ending closes a run: its state, its result and, if it was answered, its turn
// are one transaction.
type Ending struct {
	State  State
	Result Result
	Err    *Error
	// Turn is nil for a run that was not answered. Its number is given at commit.
	Turn *Turn
	// Spends are the upstream requests of this attempt.
	Spends []Spend
	At     time.Time
}

// Spend is what one upstream request cost. Spends are kept even when the run
// they belong to was lost to another owner.
type Spend struct {
	RunID    string
	ThreadID string
	Tool     string
	Model    ModelRef
	Attempt  int
	Usage    Usage
	Outcome  string
	At       time.Time
}
