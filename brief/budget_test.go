package brief_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley"
	"parley/brief"
)

func TestAllocate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		context int
		want    brief.Allocation
	}{
		{0, brief.Allocation{}},
		{200_000, brief.Allocation{Content: 120_000, Response: 80_000, Files: 36_000, History: 60_000}},
		{299_999, brief.Allocation{Content: 179_999, Response: 120_000, Files: 53_999, History: 89_999}},
		{300_000, brief.Allocation{Content: 240_000, Response: 60_000, Files: 96_000, History: 96_000}},
		{1_000_000, brief.Allocation{Content: 800_000, Response: 200_000, Files: 320_000, History: 320_000}},
	} {
		if diff := cmp.Diff(tc.want, brief.Allocate(tc.context)); diff != "" {
			t.Errorf("Allocate(%d) (-want +got):\n%s", tc.context, diff)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		thread int64
		budget int
		want   int64
	}{
		{0, 0, 0},
		{0, 100, 0},
		{100, 100, 0},
		{101, 100, 40},
		{140, 100, 40},
		{141, 100, 80},
		{5, 0, 5},
		{5, -3, 5},
		{5, 1, 4},
		{math.MaxInt32 * 1000, 1000, (math.MaxInt32 - 1) * 1000},
	} {
		if got := brief.Window(tc.thread, tc.budget); got != tc.want {
			t.Errorf("Window(%d, %d) = %d, want %d", tc.thread, tc.budget, got, tc.want)
		}
	}
}

func TestWindowProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(1, 1_000_000).Draw(t, "budget")
		thread := rapid.Int64Range(0, 1<<50).Draw(t, "thread")
		grown := thread + rapid.Int64Range(0, 1_000_000).Draw(t, "growth")
		before, after := brief.Window(thread, budget), brief.Window(grown, budget)
		if thread-before > int64(budget) {
			t.Fatalf("%d tokens are shown, over the budget of %d", thread-before, budget)
		}
		if before > 0 && thread-before < int64(budget)*6/10-1 {
			t.Fatalf("only %d tokens are shown of a budget of %d", thread-before, budget)
		}
		if after < before {
			t.Fatalf("the cut moved back from %d to %d", before, after)
		}
		if after != before && grown-before <= int64(budget) {
			t.Fatalf("the cut moved from %d to %d although %d tokens fitted", before, after, grown-before)
		}
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	model := func(context, output int) parley.Model {
		return parley.Model{
			ModelRef: parley.ModelRef{Provider: "openai", Name: "m"}, Context: context, MaxOutput: output,
		}
	}
	for _, tc := range []struct {
		name string
		in   brief.Input
		want brief.Plan
	}{
		{
			"Everything",
			brief.Input{Model: model(400_000, 128_000), ThreadTokens: 1000, QuestionTokens: 100, SystemTokens: 200},
			brief.Plan{HistoryBudget: 128_000},
		},
		{
			"Cut",
			brief.Input{Model: model(100_000, 10_000), ThreadTokens: 30_001, QuestionTokens: 100},
			brief.Plan{HistoryBudget: 30_000, Skip: 12_000},
		},
		{
			"LongQuestionLeavesLessHistory",
			brief.Input{Model: model(100_000, 10_000), ThreadTokens: 20_000, QuestionTokens: 79_952, SystemTokens: 0},
			brief.Plan{HistoryBudget: 10_000, Skip: 12_000},
		},
		{
			"SmallerAnswerLeavesMore",
			brief.Input{Model: model(100_000, 10_000), ThreadTokens: 20_000, QuestionTokens: 79_952, MaxOutput: 1000},
			brief.Plan{HistoryBudget: 19_000, Skip: 7_600, MaxOutput: 1000},
		},
		{
			"RequestedMoreThanTheModelGives",
			brief.Input{Model: model(100_000, 10_000), QuestionTokens: 10, MaxOutput: 20_000},
			brief.Plan{HistoryBudget: 30_000, MaxOutput: 10_000},
		},
		{
			"OutputLimitAsLargeAsTheWindow",
			brief.Input{Model: model(500_000, 500_000), QuestionTokens: 10},
			brief.Plan{HistoryBudget: 160_000, MaxOutput: 100_000},
		},
		{
			"NoLimitsKnown",
			brief.Input{Model: model(0, 0), QuestionTokens: 10},
			brief.Plan{HistoryBudget: 9_830},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := brief.Fit(t.Context(), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFitTooLong(t *testing.T) {
	t.Parallel()
	_, err := brief.Fit(t.Context(), brief.Input{
		Model: parley.Model{
			ModelRef: parley.ModelRef{Provider: "openai", Name: "m"}, Context: 1000, MaxOutput: 100,
		},
		QuestionTokens: 900, SystemTokens: 52,
	})
	got := parley.AsError(err)
	if got == nil || got.Code != parley.CodeContextLengthExceeded {
		t.Fatalf("got %v, want CONTEXT_LENGTH_EXCEEDED", err)
	}
	if got.MaxTokens != 800 || got.ProvidedTokens != 900 || got.Hint == "" || got.Model != "m" || got.Provider != "openai" {
		t.Errorf("got %+v", got)
	}
}

func TestFitProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := brief.Input{
			Model: parley.Model{
				Context:   rapid.IntRange(1000, 2_000_000).Draw(t, "context"),
				MaxOutput: rapid.IntRange(0, 2_000_000).Draw(t, "output"),
			},
			ThreadTokens:   rapid.Int64Range(0, 10_000_000).Draw(t, "thread"),
			QuestionTokens: rapid.IntRange(0, 2_000_000).Draw(t, "question"),
			SystemTokens:   rapid.IntRange(0, 500).Draw(t, "system"),
			MaxOutput:      rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 500_000)).Draw(t, "requested"),
		}
		p, err := brief.Fit(t.Context(), in)
		if err != nil {
			if e := parley.AsError(err); e.Code != parley.CodeContextLengthExceeded || e.ProvidedTokens <= e.MaxTokens {
				t.Fatalf("refused with %+v", e)
			}
			return
		}
		shown := in.ThreadTokens - p.Skip
		if shown < 0 || shown > int64(p.HistoryBudget) || p.HistoryBudget > brief.Allocate(in.Model.Context).History {
			t.Fatalf("%d tokens of history are shown with %+v", shown, p)
		}
		if total := int(shown) + in.QuestionTokens + in.SystemTokens + p.MaxOutput; total > in.Model.Context {
			t.Fatalf("%d tokens in a window of %d with %+v", total, in.Model.Context, p)
		}
		if in.MaxOutput > 0 && (p.MaxOutput < 1 || p.MaxOutput > in.MaxOutput) {
			t.Fatalf("requested %d, planned %d", in.MaxOutput, p.MaxOutput)
		}
	})
}
