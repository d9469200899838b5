package fakeai

import (
	"cmp"
	"fmt"
	"net/http"
)

// fault is an error before it has a vendor's shape. Empty words are filled with
// what the vendor says for the status.
type fault struct {
	status                     int
	message, kind, code, param string
}

// invalid is a request the real service would refuse.
func invalid(format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

// at names the parameter and the code, which only OpenAI tells.
func (f *fault) at(param, code string) *fault {
	f.param, f.code = param, code
	return f
}

// failure is the error a script asks for; inside a 200 it counts as a 500.
func (s *Script) failure() fault {
	status := s.Status
	if status < http.StatusBadRequest {
		status = http.StatusInternalServerError
	}
	return fault{status: status, message: s.Message, kind: s.Type, code: s.Code}
}

func (f *fault) text() string {
	return cmp.Or(f.message, http.StatusText(f.status), "Overloaded")
}

// orNull is nil, and so null in JSON, for an empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type openAIError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

func openAIFault(f fault) []byte {
	kind, code := "invalid_request_error", ""
	switch {
	case f.status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case f.status == http.StatusNotFound:
		code = "model_not_found"
	case f.status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case f.status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	var e openAIError
	e.Error.Message = f.text()
	e.Error.Type = cmp.Or(f.kind, kind)
	e.Error.Param = orNull(f.param)
	e.Error.Code = orNull(cmp.Or(f.code, code))
	return mustJSON(e)
}

type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

var anthropicKinds = map[int]string{
	401: "authentication_error",
	402: "billing_error",
	403: "permission_error",
	404: "not_found_error",
	413: "request_too_large",
	429: "rate_limit_error",
	504: "timeout_error",
	529: "overloaded_error",
}

func anthropicFault(f fault) []byte {
	kind := anthropicKinds[f.status]
	if f.status >= http.StatusInternalServerError {
		kind = cmp.Or(kind, "api_error")
	}
	e := anthropicError{Type: "error"}
	e.Error.Type = cmp.Or(f.kind, kind, "invalid_request_error")
	e.Error.Message = f.text()
	return mustJSON(e)
}

type googleError struct {
	Error struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Status  string            `json:"status"`
		Details []googleErrorInfo `json:"details,omitempty"`
	} `json:"error"`
}

type googleErrorInfo struct {
	Type   string `json:"@type"`
	Reason string `json:"reason"`
	Domain string `json:"domain"`
}

var googleStatuses = map[int]string{
	400: "INVALID_ARGUMENT",
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	404: "NOT_FOUND",
	409: "ABORTED",
	429: "RESOURCE_EXHAUSTED",
	499: "CANCELLED",
	500: "INTERNAL",
	501: "UNIMPLEMENTED",
	503: "UNAVAILABLE",
	504: "DEADLINE_EXCEEDED",
}

func googleFault(f fault) []byte {
	var e googleError
	e.Error.Code = f.status
	e.Error.Message = f.text()
	e.Error.Status = cmp.Or(f.kind, googleStatuses[f.status], "UNKNOWN")
	if f.code != "" {
		e.Error.Details = []googleErrorInfo{{
			Type:   "type.googleapis.com/google.rpc.ErrorInfo",
			Reason: f.code,
			Domain: "googleapis.com",
		}}
	}
	return mustJSON(e)
}
