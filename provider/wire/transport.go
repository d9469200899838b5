package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// Transport is the one RoundTripper under all SDKs. It keeps what they lose (see
// [Record]), bounds what they would read whole, and can hide what they choke on.
type Transport struct {
	// Base sends the request; nil means http.DefaultTransport.
	Base http.RoundTripper
	// MaxBody and MaxErrorBody bound the bodies; zero means the package's limits.
	MaxBody, MaxErrorBody int64
	// DropComments takes the comment lines out of event streams, for SDKs whose
	// own reader fails on them. [Events] copes with comments and shows them as
	// signs of life, so leave it off where Events reads.
	DropComments bool
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	record := recordFrom(req.Context())
	res, err := base.RoundTrip(req)
	if err != nil {
		record.add(Exchange{Host: req.URL.Host, Err: err})
		return res, err
	}
	exchange := Exchange{Host: req.URL.Host, Status: res.StatusCode, Header: res.Header}
	if res.StatusCode >= http.StatusBadRequest {
		res.Body = bound(res.Body, t.MaxErrorBody, MaxErrorBody)
		exchange.ErrorBody, res.Body = keep(res.Body)
	} else {
		res.Body = bound(res.Body, t.MaxBody, MaxBody)
		if t.DropComments && isEventStream(res.Header) {
			res.Body = &uncommented{body: res.Body, events: newLines(res.Body)}
		}
	}
	record.add(exchange)
	return res, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func isEventStream(h http.Header) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media == "text/event-stream"
}

// TooLargeError says that a body or an event went over its bound.
type TooLargeError struct {
	What  string
	Limit int64
}

// Error implements the error interface.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.What, e.Limit)
}

type boundedBody struct {
	io.ReadCloser
	left, limit int64
}

func bound(body io.ReadCloser, limit, fallback int64) io.ReadCloser {
	if limit <= 0 {
		limit = fallback
	}
	return &boundedBody{ReadCloser: body, left: limit, limit: limit}
}

// Read fails on the first byte over the limit, not on the limit itself.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &TooLargeError{What: "the body", Limit: b.limit}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, &TooLargeError{What: "the body", Limit: b.limit}
	}
	return n, err
}

// keep reads the beginning of an error's body and returns it together with a
// body that still has everything. A body that breaks off here is as good as
// one that ends: the status is what counts.
func keep(body io.ReadCloser) ([]byte, io.ReadCloser) {
	head, err := io.ReadAll(io.LimitReader(body, KeptErrorBody))
	if err == nil {
		rest := io.MultiReader(bytes.NewReader(head), body)
		return head, readCloser{rest, body}
	}
	return head, readCloser{bytes.NewReader(head), body}
}

type readCloser struct {
	io.Reader
	io.Closer
}

// uncommented is an event stream without its comment lines.
type uncommented struct {
	body    io.Closer
	events  *lines
	pending []byte
	err     error
}

func (u *uncommented) Read(p []byte) (int, error) {
	for len(u.pending) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		line, err := u.events.next()
		u.err = err
		if len(line) > 0 && line[0] == ':' {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			u.pending = append(append(u.pending[:0], line...), '\n')
		}
	}
	n := copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

func (u *uncommented) Close() error { return u.body.Close() }
