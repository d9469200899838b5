package brief

import (
	"context"

	"parley"
)

// Allocation divides a context window, in tokens. Files and History are parts
// of Content.
type Allocation struct {
	Content  int
	Response int
	Files    int
	History  int
}

// largeContext is where a window is large enough to be generous with.
const largeContext = 300_000

// Allocate divides a context window. A small one keeps more for the answer and
// prefers history over files.
func Allocate(context int) Allocation {
	content, files, history := 80, 40, 40
	if context < largeContext {
		content, files, history = 60, 30, 50
	}
	a := Allocation{Content: percent(context, content)}
	a.Response = context - a.Content
	a.Files = percent(a.Content, files)
	a.History = percent(a.Content, history)
	return a
}

func percent(n, p int) int { return int(int64(n) * int64(p) / 100) }

// lowWater is how full, in percent of the budget, a history is after a cut. The
// distance to the budget is how long the new beginning stays where it is.
const lowWater = 60

// Window says how many tokens of a thread's history to leave out from the
// start, so that the rest is within budget. Show the turns before which at
// least that many tokens have been spent: store.TurnAfter(skip).
//
// It depends on nothing but the two sums, and moves in steps: whoever computes
// it, and whenever, a thread that grows keeps its first shown turn until a
// whole step has been written.
func Window(threadTokens int64, budget int) (skip int64) {
	over := threadTokens - int64(max(budget, 0))
	switch {
	case over <= 0:
		return 0
	case budget <= 0:
		return threadTokens
	}
	step := int64(budget - percent(budget, lowWater))
	return (over + step - 1) / step * step
}

// frameTokens is what a request costs around its texts: the frames of system
// prompt and question, the date, the line that says what was left out.
const frameTokens = 48

// Input is what [Fit] needs to know about a request.
type Input struct {
	Model parley.Model
	// ThreadTokens is the sum over all turns of the thread, and Turns their number.
	ThreadTokens int64
	Turns        int
	// QuestionTokens counts the question and whatever travels with it.
	QuestionTokens int
	SystemTokens   int
	// MaxOutput is the output limit that the caller asked for; zero if none.
	MaxOutput int
}

// Plan is how a request is made to fit.
type Plan struct {
	// Skip is how many tokens of history to leave out from the start; zero
	// shows all turns.
	Skip int64
	// HistoryBudget is what history could have had.
	HistoryBudget int
	// MaxOutput is the limit to send; zero leaves it to the provider.
	MaxOutput int
}

// Fit decides how much of a thread is shown beside a question, and how long the
// answer may be.
//
// A reserve for the answer is kept free: the model's output limit, but no more
// than the response share of its window, because a limit of 128k in a window of
// 200k is a permission, not a plan. A caller who asks for less gets by with
// less, so that a long question fits beside a short answer; one who asks for
// more does not take history away, so that the briefing, and with it the prompt
// cache, does not depend on it. History gets its share, or what is left beside
// system prompt and question if that is less.
//
// The limit to send is the caller's, or none. Where the model's own limit would
// not fit into what is left of the window, which some providers refuse, it is
// the reserve.
func Fit(_ context.Context, in Input) (Plan, error) {
	window := in.Model.Context
	if window <= 0 {
		window = parley.UnknownContext
	}
	share := Allocate(window)
	reserve := atMost(atMost(share.Response, in.Model.MaxOutput), in.MaxOutput)
	room := window - reserve - in.SystemTokens - frameTokens
	if in.QuestionTokens > room {
		return Plan{}, tooLong(in, max(room, 0))
	}
	p := Plan{HistoryBudget: min(share.History, room-in.QuestionTokens)}
	p.Skip = Window(in.ThreadTokens, p.HistoryBudget)

	shown := int(max(in.ThreadTokens-p.Skip, 0))
	left := room + reserve - in.QuestionTokens - shown
	switch {
	case in.MaxOutput > 0:
		p.MaxOutput = min(atMost(in.MaxOutput, in.Model.MaxOutput), left)
	case in.Model.MaxOutput > left:
		p.MaxOutput = reserve
	}
	return p, nil
}

// atMost lowers n to a limit, where zero is no limit.
func atMost(n, limit int) int {
	if limit <= 0 {
		return n
	}
	return min(n, limit)
}

func tooLong(in Input, room int) error {
	err := parley.Errorf(parley.CodeContextLengthExceeded,
		"the question has %d tokens, and %s has room for %d beside its answer", in.QuestionTokens, in.Model.Name, room).
		WithHint("Shorten the prompt, or ask a model with more context; listmodels shows how much each has.")
	err.Provider, err.Model = in.Model.Provider, in.Model.Name
	err.MaxTokens, err.ProvidedTokens = room, in.QuestionTokens
	return err
}
