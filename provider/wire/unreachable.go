package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"parley"
)

// unreachable is for requests that got no response.
func (f Failure) unreachable() *parley.Error {
	e := &parley.Error{
		Code: parley.CodeProviderUnavailable, Retryable: true,
		Hint: "Check the network and the base URL of " + f.Provider + ".",
		Err:  &maskedError{text: Mask(f.Err.Error(), f.Secrets...), err: f.Err},
	}
	host := f.Host
	if host == "" {
		host = "the endpoint"
	}
	var (
		redirect *RedirectError
		large    *TooLargeError
		dns      *net.DNSError
		timeout  net.Error
	)
	switch {
	case errors.As(f.Err, &redirect):
		e.Code, e.Retryable = parley.CodeUpstreamError, false
		e.Message = fmt.Sprintf("%s answered with a redirect to %s, which was not followed", f.Provider, Plain(redirect.To, 100))
		e.Hint = "If that is the right place, make it the base URL; the key is never taken to another host."
	case errors.As(f.Err, &large):
		e.Code, e.Retryable, e.Hint = parley.CodeUpstreamError, false, ""
		e.Message = fmt.Sprintf("%s sent more than can be an answer: %s", f.Provider, large)
	case errors.As(f.Err, &dns):
		e.Message = fmt.Sprintf("the address of %s (%s) could not be found", f.Provider, host)
	case errors.Is(f.Err, syscall.ECONNREFUSED):
		e.Message = fmt.Sprintf("nothing accepts connections for %s at %s", f.Provider, host)
	case isTLS(f.Err):
		e.Message = fmt.Sprintf("no secure connection to %s at %s", f.Provider, host)
		e.Hint = "Check the base URL (http or https?), the certificate, and any proxy between."
	case errors.As(f.Err, &timeout) && timeout.Timeout():
		e.Message = fmt.Sprintf("no connection to %s at %s within %s", f.Provider, host, ConnectTimeout)
	case errors.Is(f.Err, syscall.ECONNRESET), errors.Is(f.Err, syscall.EPIPE),
		errors.Is(f.Err, io.EOF), errors.Is(f.Err, io.ErrUnexpectedEOF):
		e.Message = fmt.Sprintf("%s at %s closed the connection without an answer", f.Provider, host)
	default:
		e.Message = fmt.Sprintf("%s at %s could not be reached", f.Provider, host)
	}
	e.Message = Mask(e.Message, f.Secrets...)
	return e
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		header       tls.RecordHeaderError
		alert        tls.AlertError
		authority    x509.UnknownAuthorityError
		name         x509.HostnameError
	)
	return errors.As(err, &verification) || errors.As(err, &header) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &name) ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}

// maskedError prints without secrets and unwraps to what it hides.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// Interrupted is the error for a context that ended, or nil if it has not. It is
// the context's error and its cause at once for errors.Is; a cause that is a
// [parley.Error] keeps its code and words.
func Interrupted(ctx context.Context, provider, model string) *parley.Error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	both := cause
	if !errors.Is(cause, ctx.Err()) {
		both = errors.Join(ctx.Err(), cause)
	}
	e := new(parley.Error)
	if known, ok := errors.AsType[*parley.Error](cause); ok {
		*e = *known
	} else {
		*e = *parley.AsError(ctx.Err())
	}
	e.Provider, e.Model, e.Err = provider, model, both
	return e
}
