package wire

import (
	"regexp"
	"strconv"
	"strings"
)

// statusOf says which status a vendor's word for an error goes with.
var statusOf = map[string]int{
	"rate_limit_exceeded": 429, "rate_limit_error": 429, "rate_limit_reached_error": 429,
	"too_many_requests": 429, "requests": 429, "tokens": 429, "resource_exhausted": 429,
	"overloaded_error": 529, "engine_overloaded": 529, "engine_overloaded_error": 529, "slow_down": 503,
	"unavailable": 503, "service_unavailable": 503, "service_unavailable_error": 503,
	"server_error": 500, "api_error": 500, "internal": 500, "internal_server_error": 500, "internal_error": 500,
	"vector_store_timeout": 504, "timeout_error": 504, "timeout": 504, "deadline_exceeded": 504,
	"invalid_api_key": 401, "authentication_error": 401, "invalid_authentication_error": 401, "unauthenticated": 401,
	"permission_error": 403, "permission_denied": 403, "permission_denied_error": 403,
	"billing_error": 402, "insufficient_quota": 402,
	"not_found_error": 404, "model_not_found": 404, "not_found": 404,
	"request_too_large": 413, "context_length_exceeded": 413, "string_above_max_length": 413,
	"invalid_request_error": 400, "invalid_argument": 400, "failed_precondition": 400, "invalid_prompt": 400,
	"bad_request": 400, "badrequesterror": 400,
}

// lowered are a vendor's words, ready for comparing. Names are
// looked at before text: messages are for people and change.
type lowered struct{ kind, code, text string }

func (f Failure) lower() lowered {
	w := lowered{kind: strings.ToLower(f.Words.Type), code: strings.ToLower(f.Words.Code)}
	// A server that broke down may say anything; only its codes count.
	if f.Status < 500 {
		w.text = strings.ToLower(f.Words.Message)
	}
	return w
}

func (w lowered) named(names ...string) bool {
	for _, n := range names {
		if w.kind == n || w.code == n {
			return true
		}
	}
	return false
}

func (w lowered) says(phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(w.text, p) {
			return true
		}
	}
	return false
}

// quota does not go by "you exceeded your current quota": OpenAI says so of an
// empty account and Google of a limit per minute.
func (w lowered) quota() bool {
	return w.named("insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active",
		"insufficient_balance", "insufficient_credits", "exceeded_current_quota_error", "insufficient_user_quota", quotaPerDay) ||
		w.says("credit balance is too low", "insufficient balance", "insufficient credits", "insufficient funds")
}

func (w lowered) tooLong() bool {
	return w.named("context_length_exceeded", "string_above_max_length", "request_too_large",
		"exceed_context_size_error", "model_context_window_exceeded") ||
		w.says("maximum context length", "context_length_exceeded", "exceeds the context window", "maximum prompt length",
			"prompt is too long", "exceed context limit", "input token count", "available context size",
			"exceeded model token limit", "prompt exceeds max length", "request too large for")
}

func (w lowered) filtered() bool {
	return w.named("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "invalid_prompt",
		"data_inspection_failed", "moderation_blocked", "prohibited_content") ||
		w.says("content management policy", "content policy", "usage policy", "input was flagged")
}

func (w lowered) badKey() bool {
	return w.named("invalid_api_key", "api_key_invalid") || w.says("incorrect api key", "invalid api key", "api key not valid")
}

func (w lowered) model() bool {
	if w.named("model_not_found", "model_not_available", "deploymentnotfound") {
		return true
	}
	if w.code == "unknown_url" || !strings.Contains(w.text, "model") {
		return false
	}
	return w.named("not_found_error", "not_found") || w.says("not found", "does not exist", "not exist", "not a valid model",
		"invalid model", "unknown model", "no access to model", "not have access", "not supported for")
}

// tokenPatterns find the limit and what was sent, in this order or, where the
// vendor says it so, the other way round.
var tokenPatterns = []struct {
	re      *regexp.Regexp
	swapped bool
}{
	{regexp.MustCompile(`(?is)maximum (?:context|prompt) length (?:is|of) (\d+).*?(?:resulted in|requested(?: about)?|contains|has|is) (\d+)`), false},
	{regexp.MustCompile(`(?is)prompt is too long\D{0,20}(\d+) tokens\D*?(\d+)`), true},
	{regexp.MustCompile(`(?is)contains (\d+) tokens.*?(\d+) maximum context length`), true},
	{regexp.MustCompile(`(?is)input token count \(?(\d+)\)?.*?\(?(\d{3,})\)?`), true},
	{regexp.MustCompile(`(?is)context limit: (\d+ \+ \d+) > (\d+)`), true},
	{regexp.MustCompile(`(?is)limit:? (\d+) requested:? (\d+)`), false},
	{regexp.MustCompile(`(?is)request \((\d+) tokens\) exceeds the available context size \((\d+)`), true},
	{regexp.MustCompile(`(?is)(?:maximum (?:context|prompt) length (?:is|of)|model token limit:) (\d+)`), false},
}

// tokenCounts reads the model's limit and what was sent out of a message; zero
// where it does not say.
func tokenCounts(message string) (limit, sent int) {
	message = strings.ReplaceAll(message[:min(len(message), KeptErrorBody)], ",", "") // 131,072
	for _, p := range tokenPatterns {
		m := p.re.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		limit = sum(m[1])
		if len(m) > 2 {
			sent = sum(m[2])
		}
		if p.swapped {
			limit, sent = sent, limit
		}
		return limit, sent
	}
	return 0, 0
}

// sum adds "190000 + 20000" up; a number that is none, or absurd, is zero.
func sum(s string) int {
	total := 0
	for part := range strings.SplitSeq(s, "+") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n > 1_000_000_000 {
			return 0
		}
		total += n
	}
	return total
}
