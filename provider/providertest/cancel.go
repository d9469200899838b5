package providertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley"
	"parley/fakeai"
)

var errWhy = errors.New("the user changed their mind")

func cancelClosesConnection(t *testing.T, h Harness) {
	leaks := goleak.IgnoreCurrent()
	up, client := fakeai.Start(), newClient(t)
	defer time.AfterFunc(patience, up.Close).Stop()
	defer func() {
		up.Close()
		client.CloseIdleConnections()
		goleak.VerifyNone(t, leaks)
	}()
	text := strings.Repeat("abcdefghij", 10)
	up.Script("", fakeai.Script{Text: text, Chunks: 10, HangAfter: 3})
	b := &bundle{h: h, up: up, provider: h.New(t, Endpoint{Upstream: up, Key: Key, Client: client})}

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	d := b.askUnder(ctx, t, h.call("hello"), func(d heard) {
		if len(d.text()) == 30 {
			cancel(errWhy)
		}
	})
	checkCancelled(t, d.err)
	if got, want := d.reply.Text, text[:30]; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	awaitGone(t, b.request(t))
}

func cancelBeforeAnswer(t *testing.T, h Harness) {
	leaks := goleak.IgnoreCurrent()
	up, client := fakeai.Start(), newClient(t)
	defer time.AfterFunc(patience, up.Close).Stop()
	defer func() {
		up.Close()
		client.CloseIdleConnections()
		goleak.VerifyNone(t, leaks)
	}()
	up.Script("", fakeai.Script{Hang: true})
	b := &bundle{h: h, up: up, provider: h.New(t, Endpoint{Upstream: up, Key: Key, Client: client})}

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	asked := make(chan error, 1)
	go func() {
		_, err := up.Await(ctx, 1)
		cancel(errWhy)
		asked <- err
	}()
	d := b.askUnder(ctx, t, h.call("hello"), nil)
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	checkCancelled(t, d.err)
	awaitGone(t, b.request(t))
}

func checkCancelled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errWhy) {
		t.Errorf("error %v, want context.Canceled and its cause", err)
	}
	if got := parley.ErrorCode(err); got != parley.CodeCancelled {
		t.Errorf("code %s, want %s", got, parley.CodeCancelled)
	}
}

// awaitGone waits until the upstream has noticed. Its script hangs, so that the
// end of its handler says as much as Gone does.
func awaitGone(t *testing.T, req *fakeai.Request) {
	t.Helper()
	select {
	case <-req.Gone():
	case <-req.Done():
	case <-time.After(patience):
		t.Error("the connection to the upstream stayed open")
	}
}

func deadline(t *testing.T, h Harness) {
	b := h.setup(t)
	b.up.Script("", fakeai.Script{Text: "never to be finished", Chunks: 4, HangAfter: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d := b.askUnder(ctx, t, h.call("hello"), nil)
	if !errors.Is(d.err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded", d.err)
	}
	if e := parley.AsError(d.err); e.Code != parley.CodeTimeout || !e.Retryable {
		t.Errorf("error %+v, want a retryable %s", e, parley.CodeTimeout)
	}
}
