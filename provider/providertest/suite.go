// Package providertest is the suite that every provider passes. It asks through
// the provider, has [fakeai] answer, and looks at what fakeai received: a reply
// can be right while the request was wrong.
//
//	func TestSuite(t *testing.T) {
//		providertest.Run(t, providertest.Harness{
//			New:   func(t testing.TB, at providertest.Endpoint) parley.Provider { … },
//			Wire:  fakeai.WireAnthropic,
//			Model: parley.Model{ModelRef: parley.ModelRef{Provider: "anthropic", Name: "claude"}},
//		})
//	}
package providertest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley"
	"parley/fakeai"
	"parley/provider/wire"
)

// Harness says how a provider is made and how its vendor spells things.
type Harness struct {
	// New makes a provider that asks the endpoint's upstream with its key, through
	// its client.
	New func(t testing.TB, at Endpoint) parley.Provider
	// Wire is fakeai's name of the wire that requests must come on.
	Wire string
	// Model is asked. Give it the efforts that Effort is to be tested with.
	Model parley.Model

	// Key finds the key in a request. Nil means the bearer token.
	Key func(*fakeai.Request) string
	// Keyless providers can be made without a key, and then send none.
	Keyless bool
	// Joined is a message of several parts as fakeai shows it. Nil means that the
	// parts are sent apart, which fakeai joins with a line feed.
	Joined func(parts ...string) string
	// Effort finds the effort in a request's body, empty if there is none; nil
	// skips the case. EffortWords has the vendor's words where they differ.
	Effort      func(body map[string]any) string
	EffortWords map[parley.Effort]string
	// Temperature and MaxOutput find the number in a request's body, nil if it is
	// not there.
	Temperature, MaxOutput func(body map[string]any) any
	// MaxOutputRequired says that the vendor wants a limit even if we have none.
	MaxOutputRequired bool
	// CacheWrites says that the vendor reports what it wrote to its cache.
	CacheWrites bool
	// ReasoningUncounted says that fakeai does not tell how much of the output was
	// reasoning on this wire.
	ReasoningUncounted bool
	// Faults are the vendor's own, on top of those that all vendors have.
	Faults []Fault
	// NoUpstream is for providers that ask nobody; only what makes sense for them
	// is tested, and Endpoint has no upstream.
	NoUpstream bool
	// Skip names cases that do not apply, with the reason.
	Skip map[string]string
}

// Endpoint is what a provider is to be made for.
type Endpoint struct {
	Upstream *fakeai.Server
	Key      string
	// Client is the test's own, so that its connections can be closed.
	Client *http.Client
}

// Key is what the suite's providers authenticate with.
const Key = "sk-parley-suite-4711-do-not-show"

// patience ends a test that would hang; nothing takes nearly as long.
const patience = 30 * time.Second

// Run runs the suite. Call it from a test that is not parallel: some cases look
// at all goroutines, some set the environment.
func Run(t *testing.T, h Harness) {
	alone, parallel := cases()
	for _, c := range alone {
		h.run(t, c, false)
	}
	for _, c := range parallel {
		h.run(t, c, true)
	}
}

type testCase struct {
	name string
	run  func(*testing.T, Harness)
	// offline cases make sense without an upstream.
	offline bool
}

func cases() (alone, parallel []testCase) {
	alone = []testCase{
		{name: "CancelClosesConnection", run: cancelClosesConnection},
		{name: "CancelBeforeAnswer", run: cancelBeforeAnswer},
		{name: "OtherKeysStayHome", run: otherKeysStayHome},
	}
	parallel = []testCase{
		{name: "Stream", run: streams},
		{name: "StreamOffline", run: streamsOffline, offline: true},
		{name: "CancelledBefore", run: cancelledBefore, offline: true},
		{name: "Concurrent", run: concurrent, offline: true},
		{name: "Usage", run: usage},
		{name: "Reasoning", run: reasoning},
		{name: "Conversation", run: conversation},
		{name: "NoSystem", run: noSystem},
		{name: "Parts", run: parts},
		{name: "Foreign", run: foreignText},
		{name: "Effort", run: effort},
		{name: "Temperature", run: temperature},
		{name: "MaxOutput", run: maxOutput},
		{name: "Finish", run: finish},
		{name: "Comments", run: comments},
		{name: "Large", run: large},
		{name: "Deadline", run: deadline},
		{name: "Faults", run: faults},
		{name: "Cut", run: cut},
		{name: "Redirect", run: redirect},
		{name: "Refused", run: refused},
		{name: "KeyIsSent", run: keyIsSent},
		{name: "KeyIsNotShown", run: keyIsNotShown},
		{name: "Fingerprint", run: fingerprint},
	}
	return alone, parallel
}

func (h Harness) run(t *testing.T, c testCase, parallel bool) {
	t.Helper()
	if h.NoUpstream != c.offline && (h.NoUpstream || c.name == "StreamOffline") {
		return
	}
	t.Run(c.name, func(t *testing.T) {
		if parallel {
			t.Parallel()
		}
		if reason, skip := h.Skip[c.name]; skip {
			t.Skip(reason)
		}
		c.run(t, h)
	})
}

// bundle is one provider with the upstream that it asks.
type bundle struct {
	h        Harness
	up       *fakeai.Server
	provider parley.Provider
}

func (h Harness) setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{h: h}
	at := Endpoint{Key: Key}
	if !h.NoUpstream {
		b.up = fakeai.Start()
		t.Cleanup(b.up.Close)
		at.Upstream, at.Client = b.up, newClient(t)
	}
	b.provider = h.New(t, at)
	return b
}

func newClient(t *testing.T) *http.Client {
	client := wire.Client(nil)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// call is a question of one message.
func (h Harness) call(text string) parley.Call {
	return parley.Call{
		Model:    h.Model,
		Messages: []parley.Message{{Role: parley.RoleUser, Parts: []parley.Part{{Text: text}}}},
	}
}

// heard is what came of an Ask.
type heard struct {
	reply  parley.Reply
	err    error
	deltas []parley.Delta
}

func (d heard) text() string {
	var b strings.Builder
	for _, delta := range d.deltas {
		b.WriteString(delta.Text)
	}
	return b.String()
}

func (d heard) reasoning() string {
	var b strings.Builder
	for _, delta := range d.deltas {
		b.WriteString(delta.Reasoning)
	}
	return b.String()
}

// ask asks, and checks what must be true of every answer.
func (b *bundle) ask(t *testing.T, call parley.Call) heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return b.askUnder(ctx, t, call, nil)
}

func (b *bundle) askUnder(ctx context.Context, t *testing.T, call parley.Call, on func(heard)) heard {
	t.Helper()
	var d heard
	d.reply, d.err = b.provider.Ask(ctx, call, func(delta parley.Delta) {
		d.deltas = append(d.deltas, delta)
		if on != nil {
			on(d)
		}
	})
	if got, want := d.reply.Text, d.text(); got != want {
		t.Errorf("the deltas make %d bytes %.80q, the reply has %d bytes %.80q", len(want), want, len(got), got)
	}
	if d.err != nil {
		checkError(t, b, d.err)
	}
	return d
}

// mustAsk is for questions that have to be answered.
func (b *bundle) mustAsk(t *testing.T, call parley.Call) heard {
	t.Helper()
	d := b.ask(t, call)
	if d.err != nil {
		t.Fatalf("Ask: %v (cause: %v)", d.err, parley.AsError(d.err).Err)
	}
	return d
}

// request is the only request there was.
func (b *bundle) request(t *testing.T) *fakeai.Request {
	t.Helper()
	requests := b.up.Requests()
	if len(requests) != 1 {
		t.Fatalf("one Ask made %d requests, want 1", len(requests))
	}
	if got, want := requests[0].Wire, b.h.Wire; got != want {
		t.Errorf("the request came on wire %q (%s), want %q", got, requests[0].Path, want)
	}
	return requests[0]
}
