package wire

import "parley"

// shares are the parts of the room for thinking that the efforts take, in
// hundredths.
var shares = map[parley.Effort]int{
	parley.EffortMinimal: 5, parley.EffortLow: 8, parley.EffortMedium: 33,
	parley.EffortHigh: 67, parley.EffortXHigh: 85, parley.EffortMax: 100,
}

// answerRoom is what a limit leaves for the answer when the budget would take
// all: thinking counts as output.
const answerRoom = 4096

// ThinkingBudget is how many tokens an effort may think: its share of ceiling,
// at least least. With an output limit it leaves a quarter of that, or enough,
// for the answer; it is not ok if the limit has no room for both.
func ThinkingBudget(effort parley.Effort, ceiling, limit, least int) (tokens int, ok bool) {
	tokens = max(ceiling*shares[effort]/100, least)
	if limit > 0 {
		tokens = min(tokens, limit-min(limit/4, answerRoom))
	}
	return max(tokens, least), tokens >= least
}
