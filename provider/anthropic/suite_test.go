package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"

	"parley"
	"parley/fakeai"
	"parley/provider/anthropic"
	"parley/provider/providertest"
)

type object = map[string]any

// model wants its effort as a budget.
var model = parley.Model{
	ModelRef:  parley.ModelRef{Provider: anthropic.ID, Name: "claude-sonnet-4-5"},
	MaxOutput: 40_000, Thinking: parley.ThinkingByBudget, MaxThinking: 30_000,
	Efforts: parley.Efforts(),
}

func field(names ...string) func(object) any {
	return func(body object) any {
		var v any = body
		for _, name := range names {
			o, _ := v.(object)
			v = o[name]
		}
		return v
	}
}

// effort is the budget, or that thinking was switched off.
func effort(body object) string {
	switch field("thinking", "type")(body) {
	case "enabled":
		return fmt.Sprint(field("thinking", "budget_tokens")(body))
	case "disabled":
		return "disabled"
	}
	return ""
}

//nolint:paralleltest // the suite sets the environment and looks at all goroutines
func TestSuite(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		New: func(_ testing.TB, at providertest.Endpoint) parley.Provider {
			return anthropic.New(anthropic.Config{BaseURL: at.Upstream.Anthropic(), Key: at.Key, HTTPClient: at.Client})
		},
		Wire: fakeai.WireAnthropic, Model: model, Keyless: true,
		Key:    func(r *fakeai.Request) string { return r.Header.Get("X-Api-Key") },
		Effort: effort,
		EffortWords: map[parley.Effort]string{
			"": "", parley.EffortNone: "disabled", parley.EffortMinimal: "1500", parley.EffortLow: "2400", parley.EffortMedium: "9900",
			parley.EffortHigh: "20100", parley.EffortXHigh: "25500", parley.EffortMax: "30000",
		},
		Temperature: field("temperature"), MaxOutput: field("max_tokens"), MaxOutputRequired: true,
		CacheWrites: true, ReasoningUncounted: true,
		Faults: []providertest.Fault{
			{
				Name:   "no credit",
				Script: fakeai.Script{Status: 400, Message: "Your credit balance is too low to access the Anthropic API."},
				Code:   parley.CodeQuotaExceeded, Says: "credit balance",
			},
			{
				Name:   "billing",
				Script: fakeai.Script{Status: 403, Type: "billing_error", Message: "Check your payment details."},
				Code:   parley.CodeQuotaExceeded,
			},
			{
				Name:   "prompt too long",
				Script: fakeai.Script{Status: 400, Message: "prompt is too long: 210500 tokens > 200000 maximum"},
				Code:   parley.CodeContextLengthExceeded, MaxTokens: 200_000, ProvidedTokens: 210_500,
			},
			{
				Name:   "prompt and answer too long",
				Script: fakeai.Script{Status: 400, Message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"},
				Code:   parley.CodeContextLengthExceeded, MaxTokens: 200_000, ProvidedTokens: 210_000,
			},
			{
				Name:   "no such model",
				Script: fakeai.Script{Status: 404, Message: "model: claude-9"},
				Code:   parley.CodeModelNotFound, Says: "claude-9",
			},
			{
				Name:   "overloaded",
				Script: fakeai.Script{Status: 529, Header: http.Header{"X-Should-Retry": {"true"}}},
				Code:   parley.CodeUpstreamError, Retryable: true, Says: "Overloaded",
			},
			{
				Name:   "overloaded inside",
				Script: fakeai.Script{ErrorAfter: 1, Type: "overloaded_error", Message: "Overloaded"},
				Code:   parley.CodeUpstreamError, Retryable: true, Says: "Overloaded",
			},
			{
				Name:   "rate limit inside",
				Script: fakeai.Script{ErrorAfter: 1, Type: "rate_limit_error", Message: "Slow down."},
				Code:   parley.CodeRateLimitExceeded, Retryable: true,
			},
			{
				Name:   "bad request inside",
				Script: fakeai.Script{ErrorAfter: -1, Type: "invalid_request_error", Message: "No."},
				Code:   parley.CodeUpstreamError,
			},
			{
				Name:   "thought until the limit",
				Script: fakeai.Script{Empty: true, Finish: fakeai.FinishLength},
				Code:   parley.CodeUpstreamError, Says: "an empty answer",
			},
		},
	})
}
