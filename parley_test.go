package parley_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	thread, run := parley.NewThreadID(), parley.NewRunID()
	if len(thread) != len("conv_")+26 || len(run) != len("run_")+26 {
		t.Errorf("%q, %q: 128 bits are 26 letters of base32", thread, run)
	}
	if thread == parley.NewThreadID() {
		t.Error("two ids are the same")
	}
	if !parley.ValidID(thread) || !parley.IsRunID(run) || parley.IsRunID(thread) || parley.ValidChosenID(thread) || parley.ValidChosenID(run) {
		t.Error("an id is not what it is")
	}
	for id, ok := range map[string]bool{
		"design-review_2": true, "": false, "a/b": false, "..": false, "ü": false, "a b": false,
		strings.Repeat("x", 64): true, strings.Repeat("x", 65): false,
	} {
		if parley.ValidChosenID(id) != ok {
			t.Errorf("ValidChosenID(%q) = %v", id, !ok)
		}
	}
}

func TestAsError(t *testing.T) {
	t.Parallel()
	known := parley.Errorf(parley.CodeTimeout, "too slow: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		err  error
		code parley.Code
	}{
		{nil, ""},
		{known, parley.CodeTimeout},
		{fmt.Errorf("wrapped: %w", known), parley.CodeTimeout},
		{context.Canceled, parley.CodeCancelled},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), parley.CodeTimeout},
		{errors.New("secret detail"), parley.CodeInternal},
	} {
		if got := parley.ErrorCode(c.err); got != c.code {
			t.Errorf("ErrorCode(%v) = %s, want %s", c.err, got, c.code)
		}
	}
	if !errors.Is(known, context.DeadlineExceeded) {
		t.Error("the cause is lost")
	}
	if msg := parley.AsError(errors.New("secret detail")).Message; strings.Contains(msg, "secret") {
		t.Errorf("an unforeseen error shows its cause: %s", msg)
	}
}

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short":                              "short",
		" two\n\nlines\tx ":                  "two lines x",
		strings.Repeat("word ", 30):          strings.TrimSpace(strings.Repeat("word ", 11)) + "…",
		"a" + strings.Repeat(" ", 478) + "é": "a",
		strings.Repeat("ü", 100):             strings.Repeat("ü", 59) + "…",
	} {
		if got := parley.TitleOf(in); got != want {
			t.Errorf("TitleOf(%.20q…) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		title := parley.TitleOf(rapid.String().Draw(t, "question"))
		if utf8.RuneCountInString(title) > 60 || strings.ContainsAny(title, "\n\r\t") || !utf8.ValidString(title) {
			t.Fatalf("%q", title)
		}
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	half, low := 0.5, 0.1
	reasoning := parley.Model{
		ModelRef: parley.ModelRef{Name: "r"}, Efforts: []parley.Effort{parley.EffortLow, parley.EffortMedium, parley.EffortHigh},
		FixedTemperature: true, Verbosity: true, WebSearch: true, MaxOutput: 1000,
	}
	plain := parley.Model{ModelRef: parley.ModelRef{Name: "p"}}
	for _, c := range []struct {
		name  string
		model parley.Model
		in    parley.Options
		want  parley.Options
		notes int
	}{
		{"DefaultEffort", reasoning, parley.Options{}, parley.Options{Effort: parley.EffortMedium}, 0},
		{"NoEffort", plain, parley.Options{}, parley.Options{Temperature: &half}, 0},
		{"OwnTemperature", parley.UnknownModel("openai", "new"), parley.Options{}, parley.Options{}, 0},
		{"OwnTemperatureNamed", parley.UnknownModel("openai", "new"), parley.Options{Temperature: &low}, parley.Options{Temperature: &low}, 0},
		{"StrongerIsNearer", reasoning, parley.Options{Effort: parley.EffortMinimal}, parley.Options{Effort: parley.EffortLow}, 1},
		{"StrongestIsEnough", reasoning, parley.Options{Effort: parley.EffortMax}, parley.Options{Effort: parley.EffortHigh}, 1},
		{"EffortDropped", plain, parley.Options{Effort: parley.EffortHigh}, parley.Options{Temperature: &half}, 1},
		{"TemperatureDropped", reasoning, parley.Options{Temperature: &half, Effort: parley.EffortLow}, parley.Options{Effort: parley.EffortLow}, 1},
		{"TemperatureKept", plain, parley.Options{Temperature: &low}, parley.Options{Temperature: &low}, 0},
		{"SearchAndVerbosityDropped", plain, parley.Options{WebSearch: true, Verbosity: "low"}, parley.Options{Temperature: &half}, 2},
		{"OutputLowered", reasoning, parley.Options{Effort: parley.EffortLow, MaxOutput: 5000}, parley.Options{Effort: parley.EffortLow, MaxOutput: 1000}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, notes := c.model.Fit(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if len(notes) != c.notes {
				t.Errorf("notes %q, want %d", notes, c.notes)
			}
		})
	}
}

func TestPriced(t *testing.T) {
	t.Parallel()
	price := &parley.Price{Input: 250_000, CachedInput: 25_000, Output: 2_000_000}
	u := parley.Usage{InputTokens: 1000, CachedInputTokens: 600, OutputTokens: 100}.Priced(price)
	if want := int64(100 + 15 + 200); *u.CostMicros != want {
		t.Errorf("cost %d, want %d", *u.CostMicros, want)
	}
	if got := (parley.Usage{InputTokens: 1}).Priced(price); *got.CostMicros != 1 {
		t.Errorf("a fraction of a micro-dollar became %d, want 1", *got.CostMicros)
	}
	if got := (parley.Usage{InputTokens: 1}).Priced(nil); got.CostMicros != nil {
		t.Error("an unknown price became a cost")
	}
	long := &parley.Price{Input: 1_000_000, Output: 1_000_000, LongAbove: 1000, Long: &parley.Price{
		Input: 2_000_000, Output: 3_000_000, LongAbove: 5000, Long: &parley.Price{Input: 4_000_000},
	}}
	for tokens, want := range map[int]int64{1000: 1010, 1001: 2032, 6000: 24_000} {
		if got := (parley.Usage{InputTokens: tokens, OutputTokens: 10}).Priced(long); *got.CostMicros != want {
			t.Errorf("%d tokens cost %d, want %d", tokens, *got.CostMicros, want)
		}
	}
	reported := int64(7)
	if got := (parley.Usage{CostMicros: &reported}).Priced(price); *got.CostMicros != 7 {
		t.Error("the provider's own cost was overruled")
	}
	if sum := u.Add(parley.Usage{OutputTokens: 5}); sum.OutputTokens != 105 || sum.CostMicros != nil {
		t.Errorf("sum %+v: an unknown part makes the whole unknown", sum)
	}
}
