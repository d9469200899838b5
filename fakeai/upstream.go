package fakeai

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// ModelList is the name under which the list of models is scripted: its Status,
// Body, Header, delays and faults apply to GET …/models. The default script does
// not.
const ModelList = "GET /models"

// Upstream answers model requests by script. It is an http.Handler and safe for
// concurrent use; scripts may be changed while requests are answered.
type Upstream struct {
	mu       sync.Mutex
	standing map[string]Script
	queued   map[string][]Script
	requests []*Request
	arrived  int           // since the last Reset, kept or not
	keep     int           // how many requests to remember; 0 is all
	wake     chan struct{} // closed at the next arrival; nil when nobody waits

	serial  atomic.Int64
	life    context.Context //nolint:containedctx // ends at Close: it is the upstream's own life
	end     context.CancelFunc
	running sync.WaitGroup
}

// New returns an Upstream whose models all echo.
func New() *Upstream {
	u := &Upstream{
		standing: map[string]Script{},
		queued:   map[string][]Script{},
	}
	u.life, u.end = context.WithCancel(context.Background())
	return u
}

// Script sets how a model answers from now on. The model "" stands for all that
// have no script of their own.
func (u *Upstream) Script(model string, s Script) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.standing[model] = s
}

// Enqueue adds scripts that are used once each, in order, before the standing
// one. Those of the model itself go before those of "". A request that is
// refused as invalid uses none.
func (u *Upstream) Enqueue(model string, s ...Script) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.queued[model] = append(u.queued[model], s...)
}

// Requests returns everything received so far, in order of arrival, including
// what was refused.
func (u *Upstream) Requests() []*Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.requests)
}

// Await waits until n requests have arrived since the start or the last Reset
// and returns what Requests would. A request has arrived when it was read whole,
// before its script's Latency and Hold.
func (u *Upstream) Await(ctx context.Context, n int) ([]*Request, error) {
	for {
		u.mu.Lock()
		if u.arrived >= n {
			defer u.mu.Unlock()
			return slices.Clone(u.requests), nil
		}
		if u.wake == nil {
			u.wake = make(chan struct{})
		}
		wake, arrived := u.wake, u.arrived
		u.mu.Unlock()

		select {
		case <-wake:
		case <-ctx.Done():
			return nil, fmt.Errorf("await %d requests, %d have arrived: %w", n, arrived, ctx.Err())
		}
	}
}

// Reset forgets the recorded requests and the queued scripts. Standing scripts
// stay.
func (u *Upstream) Reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests, u.arrived = nil, 0
	clear(u.queued)
}

// Keep limits the requests that are remembered to the last n, so that a
// benchmark does not grow with its length; 0, the default, remembers all.
func (u *Upstream) Keep(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keep = n
	u.trim()
}

func (u *Upstream) trim() {
	if extra := len(u.requests) - u.keep; u.keep > 0 && extra > 0 {
		u.requests = slices.Delete(u.requests, 0, extra)
	}
}

// Close cuts every answer that is going out or held and waits for its handler.
// Requests that come later are cut as well.
func (u *Upstream) Close() {
	u.mu.Lock()
	u.end()
	u.mu.Unlock()
	u.running.Wait()
}

// enter admits a handler unless the upstream is closed.
func (u *Upstream) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.life.Err() != nil {
		return false
	}
	u.running.Add(1)
	return true
}

// record remembers the request and, if it was valid, picks its script in the
// same step, so that queued scripts go to requests in their order of arrival.
func (u *Upstream) record(r *Request, valid bool) Script {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, r)
	u.arrived++
	u.trim()
	if u.wake != nil {
		close(u.wake)
		u.wake = nil
	}
	if !valid {
		return Script{}
	}
	if r.Wire == WireModels {
		return u.pick(ModelList)
	}
	return u.pick(r.Model, "")
}

func (u *Upstream) pick(names ...string) Script {
	for _, name := range names {
		if q := u.queued[name]; len(q) > 0 {
			u.queued[name] = q[1:]
			return q[0]
		}
	}
	for _, name := range names {
		if s, ok := u.standing[name]; ok {
			return s
		}
	}
	return Script{}
}

// models are the names that have a script, sorted.
func (u *Upstream) models() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := slices.AppendSeq(slices.Collect(maps.Keys(u.standing)), maps.Keys(u.queued))
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == "" || name == ModelList
	})
}
