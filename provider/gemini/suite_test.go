package gemini_test

import (
	"fmt"
	"testing"
	"time"

	"parley"
	"parley/fakeai"
	"parley/provider/gemini"
	"parley/provider/providertest"
)

type object = map[string]any

// model wants its effort as a level.
var model = parley.Model{
	ModelRef: parley.ModelRef{Provider: gemini.ID, Name: "gemini-3.1-pro"},
	Thinking: parley.ThinkingByLevel, Efforts: parley.Efforts(),
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

func level(body object) string {
	s, _ := field("generationConfig", "thinkingConfig", "thinkingLevel")(body).(string)
	return s
}

// exhausted is Google's error for a limit that was reached.
func exhausted(quota, delay string) fakeai.Script {
	return fakeai.Script{Status: 429, Body: fmt.Sprintf(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED",`+
		`"message":"You exceeded your current quota, please check your plan and billing details.","details":[`+
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":%q,"quotaValue":"5"}]},`+
		`{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"d","url":"u"}]},`+
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%q}]}}`, quota, delay)}
}

//nolint:paralleltest // the suite sets the environment and looks at all goroutines
func TestSuite(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		New: func(_ testing.TB, at providertest.Endpoint) parley.Provider {
			return gemini.New(gemini.Config{BaseURL: at.Upstream.Gemini(), Key: at.Key, HTTPClient: at.Client})
		},
		Wire: fakeai.WireGemini, Model: model, Keyless: true,
		Key:    func(r *fakeai.Request) string { return r.Header.Get("X-Goog-Api-Key") },
		Effort: level,
		EffortWords: map[parley.Effort]string{
			parley.EffortNone: "MINIMAL", parley.EffortMinimal: "MINIMAL", parley.EffortLow: "LOW", parley.EffortMedium: "MEDIUM",
			parley.EffortHigh: "HIGH", parley.EffortXHigh: "HIGH", parley.EffortMax: "HIGH",
		},
		Temperature: field("generationConfig", "temperature"), MaxOutput: field("generationConfig", "maxOutputTokens"),
		Faults: []providertest.Fault{
			{
				Name: "limit of the minute", Script: exhausted("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "34.5s"),
				Code: parley.CodeRateLimitExceeded, Retryable: true, RetryAfter: 34500 * time.Millisecond, Says: "your current quota",
			},
			{
				Name: "limit of the day", Script: exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "12s"),
				Code: parley.CodeQuotaExceeded, Says: "your current quota",
			},
			{
				Name:   "bad key",
				Script: fakeai.Script{Status: 400, Code: "API_KEY_INVALID", Message: "API key not valid. Please pass a valid API key."},
				Code:   parley.CodeAuthenticationFailed,
			},
			{
				Name:   "too long",
				Script: fakeai.Script{Status: 400, Message: "The input token count (1200500) exceeds the maximum number of tokens allowed (1048576)."},
				Code:   parley.CodeContextLengthExceeded, MaxTokens: 1_048_576, ProvidedTokens: 1_200_500,
			},
			{
				Name:   "no such model",
				Script: fakeai.Script{Status: 404, Message: "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."},
				Code:   parley.CodeModelNotFound, Says: "gemini-9",
			},
			{
				Name:   "overloaded",
				Script: fakeai.Script{Status: 503, Message: "The model is overloaded. Please try again later."},
				Code:   parley.CodeUpstreamError, Retryable: true, Says: "overloaded",
			},
			{
				Name:   "rate limit inside",
				Script: fakeai.Script{ErrorAfter: 1, Type: "RESOURCE_EXHAUSTED", Code: "RATE_LIMIT_EXCEEDED", Message: "Slow down."},
				Code:   parley.CodeRateLimitExceeded, Retryable: true,
			},
			{
				Name:   "prompt blocked",
				Script: fakeai.Script{Body: "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{\"promptTokenCount\":7}}\n\n"},
				Code:   parley.CodeContentFiltered, Says: "PROHIBITED_CONTENT",
			},
			{
				Name:   "recitation",
				Script: fakeai.Script{Empty: true, Finish: "RECITATION"},
				Code:   parley.CodeContentFiltered,
			},
			{
				Name:   "thought until the limit",
				Script: fakeai.Script{Empty: true, Finish: fakeai.FinishLength},
				Code:   parley.CodeUpstreamError, Says: "an empty answer",
			},
		},
	})
}
