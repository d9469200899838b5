package parley

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code is the machine-readable half of an [Error]. The set is part of the
// public contract.
type Code string

// The codes, as clients see them.
const (
	CodeInvalidArgument       Code = "INVALID_ARGUMENT"
	CodeModelNotFound         Code = "MODEL_NOT_FOUND"
	CodeModelNotAllowed       Code = "MODEL_NOT_ALLOWED"
	CodeProviderUnavailable   Code = "PROVIDER_UNAVAILABLE"
	CodeAuthenticationFailed  Code = "AUTHENTICATION_FAILED"
	CodeRateLimitExceeded     Code = "RATE_LIMIT_EXCEEDED"
	CodeQuotaExceeded         Code = "QUOTA_EXCEEDED"
	CodeContextLengthExceeded Code = "CONTEXT_LENGTH_EXCEEDED"
	CodeContentFiltered       Code = "CONTENT_FILTERED"
	CodeUpstreamError         Code = "UPSTREAM_ERROR"
	CodeTimeout               Code = "TIMEOUT"
	CodeCancelled             Code = "CANCELLED"
	CodeOverCapacity          Code = "OVER_CAPACITY"
	CodeBudgetExceeded        Code = "BUDGET_EXCEEDED"
	CodeFileNotFound          Code = "FILE_NOT_FOUND"
	CodeFileAccessDenied      Code = "FILE_ACCESS_DENIED"
	CodeFileTooLarge          Code = "FILE_TOO_LARGE"
	CodeUnsupportedFile       Code = "UNSUPPORTED_FILE"
	CodeContinuationNotFound  Code = "CONTINUATION_NOT_FOUND"
	CodeContinuationExpired   Code = "CONTINUATION_EXPIRED"
	CodeContinuationNotYours  Code = "CONTINUATION_NOT_YOURS"
	CodeRunNotFound           Code = "RUN_NOT_FOUND"
	CodeRunInterrupted        Code = "RUN_INTERRUPTED"
	CodeStoreUnavailable      Code = "STORE_UNAVAILABLE"
	CodeInternal              Code = "INTERNAL"
)

// Error is the one error type that reaches a user: what happened, in words,
// and what to do about it. Err keeps the cause for the log; it is never shown.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"error"`
	// Hint says what the reader can do next. Empty where nothing helps.
	Hint     string `json:"hint,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Retryable means the same call may succeed later, unchanged.
	Retryable bool `json:"retryable"`
	// RetryAfter is how long the provider asked us to wait; zero if it did not say.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// MaxTokens and ProvidedTokens are set with CodeContextLengthExceeded.
	MaxTokens      int `json:"max_tokens,omitempty"`
	ProvidedTokens int `json:"provided_tokens,omitempty"`
	// Attempts lists the upstream requests that were made before giving up.
	Attempts []Attempt `json:"attempts,omitempty"`

	Err error `json:"-"`
}

// Error implements the error interface with the message and, if there is one,
// the code; the hint and the cause are for other readers.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error] with a formatted message. A %w verb sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns e with the hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// AsError turns any error into an [Error]. A cancelled or timed-out context
// gets its own code; what nobody foresaw is INTERNAL, with the cause kept for
// the log and out of the message.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Message: "the time limit passed", Retryable: true, Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCancelled, Message: "the call was cancelled", Err: err}
	}
	return &Error{
		Code: CodeInternal, Message: "something went wrong inside parley",
		Hint: "The log under $PARLEY_HOME/logs has the details; please report it.", Err: err,
	}
}

// ErrorCode returns the code of err, or the empty string for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}
