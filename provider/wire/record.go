package wire

import (
	"context"
	"net/http"
	"sync"
)

// Exchange is one request as the transport saw it.
type Exchange struct {
	// Host is where it went.
	Host string
	// Status is zero when there was no response.
	Status int
	Header http.Header
	// ErrorBody is the beginning of the body of an error response.
	ErrorBody []byte
	Err       error
}

// RequestID is the vendor's name for the request, for the log.
func (e Exchange) RequestID() string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Goog-Request-Id", "Cf-Ray"} {
		if id := e.Header.Get(name); id != "" {
			return Plain(id, 100)
		}
	}
	return ""
}

// Record collects the exchanges made under one context. It is safe for
// concurrent use.
type Record struct {
	mu        sync.Mutex
	exchanges []Exchange
}

type recordKey struct{}

// WithRecord returns a context whose requests are recorded.
func WithRecord(ctx context.Context) (context.Context, *Record) {
	record := new(Record)
	return context.WithValue(ctx, recordKey{}, record), record
}

func recordFrom(ctx context.Context) *Record {
	record, _ := ctx.Value(recordKey{}).(*Record)
	return record
}

func (r *Record) add(e Exchange) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, e)
}

// Exchanges returns what was recorded so far, in order.
func (r *Record) Exchanges() []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Exchange(nil), r.exchanges...)
}

// Last is the latest exchange, or the zero value when nothing was sent.
func (r *Record) Last() Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.exchanges) == 0 {
		return Exchange{}
	}
	return r.exchanges[len(r.exchanges)-1]
}
