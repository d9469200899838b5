package openai_test

import (
	"strings"
	"testing"

	"parley"
	"parley/fakeai"
	"parley/provider/openai"
	"parley/provider/providertest"
)

var model = parley.Model{
	ModelRef: parley.ModelRef{Provider: "openai", Name: "gpt-5-mini"},
	Efforts:  []parley.Effort{parley.EffortMinimal, parley.EffortLow, parley.EffortMedium, parley.EffortHigh},
}

func field(names ...string) func(map[string]any) any {
	return func(body map[string]any) any {
		var v any = body
		for _, name := range names {
			o, _ := v.(map[string]any)
			v = o[name]
		}
		return v
	}
}

func word(find func(map[string]any) any) func(map[string]any) string {
	return func(body map[string]any) string {
		s, _ := find(body).(string)
		return s
	}
}

func harness(id, wire string) providertest.Harness {
	return providertest.Harness{
		New: func(_ testing.TB, at providertest.Endpoint) parley.Provider {
			return openai.New(openai.Config{
				ID: id, BaseURL: at.Upstream.OpenAI(), Key: at.Key, Wire: wire, HTTPClient: at.Client,
			})
		},
		Wire: wire, Model: model, Keyless: true, Faults: vendorFaults(),
		Temperature: field("temperature"),
	}
}

//nolint:paralleltest // the suite sets the environment and looks at all goroutines
func TestSuiteResponses(t *testing.T) {
	h := harness("openai", openai.WireResponses)
	h.Effort = word(field("reasoning", "effort"))
	h.MaxOutput = field("max_output_tokens")
	h.Faults = append(h.Faults, providertest.Fault{
		Name:   "response.failed",
		Script: fakeai.Script{Text: "half an", Finish: fakeai.FinishFailed, Code: "rate_limit_exceeded", Message: "Slow down."},
		Code:   parley.CodeRateLimitExceeded, Retryable: true, Says: "Slow down.",
	})
	providertest.Run(t, h)
}

//nolint:paralleltest // as above
func TestSuiteChat(t *testing.T) {
	h := harness("custom", openai.WireChat)
	h.Effort = word(field("reasoning_effort"))
	h.MaxOutput = field("max_tokens")
	h.Joined = func(parts ...string) string { return strings.Join(parts, "\n\n") }
	providertest.Run(t, h)
}

func vendorFaults() []providertest.Fault {
	return []providertest.Fault{
		{
			Name:   "insufficient quota",
			Script: fakeai.Script{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "You exceeded your current quota."},
			Code:   parley.CodeQuotaExceeded, Says: "You exceeded your current quota.",
		},
		{
			Name: "context length",
			Script: fakeai.Script{
				Status: 400, Code: "context_length_exceeded",
				Message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens.",
			},
			Code: parley.CodeContextLengthExceeded, MaxTokens: 128000, ProvidedTokens: 130500,
		},
		{
			Name:   "model not for this account",
			Script: fakeai.Script{Status: 403, Code: "model_not_found", Message: "Project does not have access to model gpt-9"},
			Code:   parley.CodeAuthenticationFailed, Says: "not available to this account",
		},
		{
			Name:   "content policy",
			Script: fakeai.Script{Status: 400, Code: "content_policy_violation", Message: "No."},
			Code:   parley.CodeContentFiltered,
		},
		{
			Name:   "rate limit inside",
			Script: fakeai.Script{ErrorAfter: 1, Type: "requests", Code: "rate_limit_exceeded", Message: "Slow down."},
			Code:   parley.CodeRateLimitExceeded, Retryable: true,
		},
		{
			Name:   "thought until the limit",
			Script: fakeai.Script{Empty: true, Finish: fakeai.FinishLength},
			Code:   parley.CodeUpstreamError, Says: "an empty answer",
		},
	}
}
