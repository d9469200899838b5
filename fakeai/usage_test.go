package fakeai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

type tokens = map[string]any

func TestUsage(t *testing.T) {
	t.Parallel()
	script := fakeai.Script{
		Text:  "x",
		Usage: &fakeai.Usage{Input: 100, CachedInput: 60, CacheWrite: 10, Output: 50, Reasoning: 20},
	}
	want := map[string]tokens{
		fakeai.WireResponses: {
			"input_tokens": 100.0, "input_tokens_details": tokens{"cached_tokens": 60.0},
			"output_tokens": 50.0, "output_tokens_details": tokens{"reasoning_tokens": 20.0}, "total_tokens": 150.0,
		},
		fakeai.WireChat: {
			"prompt_tokens": 100.0, "prompt_tokens_details": tokens{"cached_tokens": 60.0},
			"completion_tokens": 50.0, "completion_tokens_details": tokens{"reasoning_tokens": 20.0}, "total_tokens": 150.0,
		},
		fakeai.WireAnthropic: {
			"input_tokens": 30.0, "cache_read_input_tokens": 60.0, "cache_creation_input_tokens": 10.0, "output_tokens": 50.0,
		},
		fakeai.WireGemini: {
			"promptTokenCount": 100.0, "cachedContentTokenCount": 60.0,
			"candidatesTokenCount": 30.0, "thoughtsTokenCount": 20.0, "totalTokenCount": 150.0,
		},
	}
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		up.Script("m", script)
		_, body, _ := d.answer(t, up, false)
		if diff := cmp.Diff(want[d.name], usageIn(decode(t, body))); diff != "" {
			t.Errorf("whole (-want +got):\n%s", diff)
		}
		_, body, _ = d.answer(t, up, true)
		if diff := cmp.Diff(want[d.name], lastUsage(events(t, body))); diff != "" {
			t.Errorf("stream (-want +got):\n%s", diff)
		}

		up.Script("m", fakeai.Script{Text: "x", NoUsage: true})
		_, body, _ = d.answer(t, up, true)
		if got := lastUsage(events(t, body)); got != nil {
			t.Errorf("NoUsage: got %v", got)
		}
	})
}

func usageIn(v any) tokens {
	for _, path := range [][]any{{"usage"}, {"response", "usage"}, {"usageMetadata"}} {
		if usage, ok := dig(v, path...).(tokens); ok {
			return usage
		}
	}
	return nil
}

func lastUsage(all []event) (last tokens) {
	for _, e := range all {
		if usage := usageIn(e.data); usage != nil {
			last = usage
		}
	}
	return last
}

func TestUsageComputed(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Text: "12345", Reasoning: "1234"})
	_, body, _ := dialects[0].answer(t, up, false)
	usage := usageIn(decode(t, body))
	// "be brief\nwhy?" has 13 bytes.
	if usage["input_tokens"] != 4.0 || usage["output_tokens"] != 3.0 || usage["total_tokens"] != 7.0 {
		t.Errorf("got %v", usage)
	}
}

func TestChatUsageOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	up := start(t)
	d := dialects[1]
	d.body = func(string, string, bool) string {
		return `{"model":"m","messages":[{"role":"user","content":"why?"}],"stream":true}`
	}
	_, body, _ := d.answer(t, up, true)
	if got := lastUsage(events(t, body)); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	words := map[string]map[string]any{
		"":                  {"responses": nil, "chat": "stop", "anthropic": "end_turn", "gemini": "STOP"},
		fakeai.FinishLength: {"responses": "max_output_tokens", "chat": "length", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"},
		fakeai.FinishFilter: {"responses": "content_filter", "chat": "content_filter", "anthropic": "refusal", "gemini": "SAFETY"},
		"odd":               {"responses": "odd", "chat": "odd", "anthropic": "odd", "gemini": "odd"},
	}
	for finish, want := range words {
		t.Run("As"+finish, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
				up.Script("m", fakeai.Script{Text: "x", Finish: finish})
				_, body, _ := d.answer(t, up, true)
				var got any
				for _, e := range events(t, body) {
					if word := dig(e.data, d.finish...); word != nil {
						got = word
					}
				}
				if got != want[d.name] {
					t.Errorf("got %v, want %v in %s", got, want[d.name], body)
				}
			})
		})
	}
}

func TestResponsesFailed(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Text: "x", Finish: fakeai.FinishFailed, Code: "server_error", Message: "sorry"})
	_, body, _ := dialects[0].answer(t, up, true)
	all := events(t, body)
	last := all[len(all)-1]
	if last.name != "response.failed" || dig(last.data, "response", "error", "message") != "sorry" {
		t.Errorf("ends with %s", last.raw)
	}
}
