package wire_test

import (
	"testing"

	"parley"
	"parley/provider/wire"
)

func TestThinkingBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		effort               parley.Effort
		ceiling, limit, want int
		ok                   bool
	}{
		{"share", parley.EffortMedium, 10_000, 0, 3300, true},
		{"least", parley.EffortMinimal, 10_000, 0, 1024, true},
		{"all", parley.EffortMax, 10_000, 0, 10_000, true},
		{"all of a large limit", parley.EffortMax, 64_000, 64_000, 59_904, true},
		{"all of a small limit", parley.EffortMax, 4000, 4000, 3000, true},
		{"limit does not matter", parley.EffortHigh, 10_000, 64_000, 6700, true},
		{"just enough", parley.EffortLow, 1366, 1366, 1024, true},
		{"no room", parley.EffortLow, 1300, 1300, 1024, false},
	} {
		got, ok := wire.ThinkingBudget(c.effort, c.ceiling, c.limit, 1024)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %t, want %d, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}
