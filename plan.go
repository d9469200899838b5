package parley

import "context"

// Plan is the work of a run. A tool that asks models is a plan; the engine
// knows runs only as plans.
//
// A plan must be a function of its request: whoever takes a run up makes the
// plan anew from the stored request and runs it from the start, and the
// checkpoints tell it what has been done.
type Plan interface {
	// Seats names the models to ask, as a caller would name them. None means
	// that no model is asked. The router turns each into a [Seat].
	Seats() []string
	// Do carries the work out. On error the result holds what there was.
	Do(ctx context.Context, w Work) (Result, error)
}

// PlanFunc makes the plan for a request, and says what is wrong with the
// request if it cannot.
type PlanFunc func(Request) (Plan, error)

// Work is what a plan may do to the world.
type Work interface {
	// Seat is one of the models the plan named, as the router decided.
	Seat(i int) Seat
	// Ask briefs and asks the model in one seat, with extra messages after the
	// question. The answer streams into the run's draft.
	Ask(ctx context.Context, seat int, extra ...Message) (Reply, []Attempt, error)
	// Checkpoint stores a finished part under a name; Restore reads it back
	// after the run was taken up, and reports whether it was there.
	Checkpoint(ctx context.Context, name string, part any) error
	Restore(name string, part any) (bool, error)
	// Stage tells people how far the work is.
	Stage(p Progress)
}
