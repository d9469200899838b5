package wire

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley"
)

// Failure is what is known about a request that went wrong upstream.
type Failure struct {
	Provider string
	Model    string
	// Host is where the request went.
	Host string
	// Status is zero when no response came, and 200 for an error inside an
	// answer.
	Status int
	Header http.Header
	Words  Words
	// RequestID is for the log.
	RequestID string
	// Err is the transport's error, for failures without a response.
	Err error
	// Secrets are masked wherever they appear.
	Secrets []string
	// Now is for the tests; zero means the clock.
	Now time.Time
}

// Failed begins a Failure with what the transport recorded. err is what the SDK
// made of it; it only counts when there was no error response, or a redirect
// that was refused.
func Failed(last Exchange, err error) Failure {
	f := Failure{Host: last.Host, Err: err}
	var redirect *RedirectError
	if last.Status >= http.StatusMultipleChoices && !errors.As(err, &redirect) {
		f.Status, f.Header, f.RequestID = last.Status, last.Header, last.RequestID()
		f.Words = ReadWords(last.ErrorBody)
	}
	return f
}

// Classify says it in parley's words: a code, a message with the vendor's own
// words marked as such, a hint, and whether and when to try again.
func (f Failure) Classify() *parley.Error {
	var e *parley.Error
	if f.Status == 0 && f.Err != nil {
		e = f.unreachable()
	} else {
		e = f.refused()
		e.Err = &StatusError{
			Status: f.Status, RequestID: Mask(f.RequestID, f.Secrets...),
			Text: clean(f.Words.Type+" "+f.Words.Code+" "+f.Words.Message, KeptErrorBody, f.Secrets),
		}
	}
	e.Provider, e.Model = f.Provider, f.Model
	return e
}

// StatusError is the cause of an error that the provider sent, for the log.
type StatusError struct {
	Status    int
	RequestID string
	// Text is cleaned and has its secrets masked.
	Text string
}

// Error implements the error interface.
func (e *StatusError) Error() string {
	return fmt.Sprintf("HTTP %d, request %q: %s", e.Status, e.RequestID, e.Text)
}

func (f Failure) refused() *parley.Error {
	status, words := f.status(), f.lower()
	e := &parley.Error{Code: parley.CodeUpstreamError}
	switch {
	case words.quota():
		status = http.StatusPaymentRequired
	case words.tooLong():
		status = http.StatusRequestEntityTooLarge
	}
	switch {
	case words.filtered():
		e.Code = parley.CodeContentFiltered
		e.Message = f.say("%s refused the content", f.Provider)
		e.Hint = "Rephrase the question or leave out the part that was refused; another provider may judge differently."
	case status == http.StatusPaymentRequired:
		e.Code = parley.CodeQuotaExceeded
		e.Message = f.say("the account at %s has no quota or credit left", f.Provider)
		e.Hint = "Check plan and billing with the provider, or use another provider."
	case status == http.StatusRequestEntityTooLarge:
		e.Code = parley.CodeContextLengthExceeded
		e.Message = f.say("the request is too long for %s", f.model())
		e.Hint = "Send fewer or smaller files, begin a new thread, or use a model with a larger context."
		e.MaxTokens, e.ProvidedTokens = tokenCounts(f.Words.Message)
	case status == http.StatusForbidden && words.model():
		e.Code = parley.CodeAuthenticationFailed
		e.Message = f.say("%s is not available to this account at %s", f.model(), f.Provider)
		e.Hint = "Use another model, or ask the provider for access to this one."
	case status == http.StatusUnauthorized, status == http.StatusForbidden, words.badKey():
		e.Code = parley.CodeAuthenticationFailed
		e.Message = f.say("%s did not accept the key", f.Provider)
		e.Hint = "Check the key that is configured for " + f.Provider + ", and that it belongs to this endpoint."
	case words.model() && (status == http.StatusNotFound || status == http.StatusBadRequest):
		e.Code = parley.CodeModelNotFound
		e.Message = f.say("%s does not know %s", f.Provider, f.model())
		e.Hint = "Check the name; listmodels shows what is configured."
	case status == http.StatusNotFound:
		e.Message = f.say("%s does not serve this address (HTTP 404)", f.Provider)
		e.Hint = "Check the base URL; often a path such as /v1 is missing or doubled."
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		e.Code, e.Retryable = parley.CodeTimeout, true
		e.Message = f.say("%s took too long to answer (HTTP %d)", f.Provider, status)
		e.RetryAfter = f.wait()
	case status == http.StatusTooManyRequests:
		e.Code, e.Retryable = parley.CodeRateLimitExceeded, true
		e.RetryAfter = f.wait()
		e.Message = f.say("%s limits the rate of requests", f.Provider)
		e.Hint = "Wait, or use another provider."
		if e.RetryAfter > 0 {
			e.Hint = fmt.Sprintf("Wait %s, or use another provider.", e.RetryAfter.Round(time.Second))
		}
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly:
		e.Retryable = true
		e.Message = f.say("%s failed%s", f.Provider, f.where())
		e.RetryAfter = f.wait()
	case f.Words.HTML:
		e.Message = f.say("%s could not be asked%s", f.Provider, f.where())
		e.Hint = "Check the base URL: something other than the provider's API answered."
	default:
		e.Message = f.say("%s refused the request%s", f.Provider, f.where())
	}
	return e
}

// status is the response's, or for an error inside an answer the one that the
// vendor would have sent had it known before the answer began.
func (f Failure) status() int {
	if f.Status >= http.StatusMultipleChoices {
		return f.Status
	}
	for _, word := range []string{f.Words.Code, f.Words.Type} {
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
		if n, ok := statusOf[strings.ToLower(word)]; ok {
			return n
		}
	}
	return http.StatusInternalServerError
}

func (f Failure) where() string {
	if f.Status >= http.StatusMultipleChoices {
		return fmt.Sprintf(" (HTTP %d)", f.Status)
	}
	return " while it answered"
}

// say appends the vendor's words, marked as theirs.
func (f Failure) say(format string, args ...any) string {
	own := Mask(fmt.Sprintf(format, args...), f.Secrets...)
	if f.Words.HTML {
		return own + ": it sent an HTML page instead of JSON"
	}
	theirs := clean(f.Words.Message, 300, f.Secrets)
	if theirs == "" {
		return own
	}
	return own + ". The provider's words: “" + theirs + "”"
}

func (f Failure) model() string {
	if f.Model == "" {
		return "the model"
	}
	return f.Model
}

func (f Failure) wait() time.Duration {
	return cmp.Or(RetryAfter(f.Header, f.now()), f.Words.Wait)
}

func (f Failure) now() time.Time {
	if f.Now.IsZero() {
		return time.Now()
	}
	return f.Now
}
