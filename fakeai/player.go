package fakeai

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

var (
	errGone   = errors.New("the client went away")
	errClosed = errors.New("the upstream was closed")
	// errFailed is not a failure of the player: the stream ended as scripted,
	// with an error event.
	errFailed = errors.New("the stream ended with an error event")
)

// player performs one script for one request.
type player struct {
	up     *Upstream
	ctx    context.Context //nolint:containedctx // a player is one request, and lives no longer
	w      http.ResponseWriter
	rc     *http.ResponseController
	req    *Request
	serial int64 // makes this response's ids
	wire   *wire
	script Script
	// settle stops watching for the client's leaving and says whether it is
	// still there. It is called before the last write: a client that has read
	// the end may hang up before the handler returns, and has not gone early.
	settle func() bool
	timer  *time.Timer
	buf    []byte
	held   bool // HoldChunks has been waited for
	paced  bool // the first delta is out
}

// breakWritesAtClose frees a handler whose client neither reads nor goes away.
func (p *player) breakWritesAtClose() (release func() bool) {
	return context.AfterFunc(p.up.life, func() {
		_ = p.rc.SetWriteDeadline(time.Unix(1, 0))
	})
}

// wait returns nil once ch is closed; a nil ch waits for the client or Close.
func (p *player) wait(ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-p.ctx.Done():
		return errGone
	case <-p.up.life.Done():
		return errClosed
	}
}

func (p *player) delay(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	select {
	case <-p.timer.C:
		return nil
	case <-p.ctx.Done():
		p.timer.Stop()
		return errGone
	case <-p.up.life.Done():
		p.timer.Stop()
		return errClosed
	}
}

func (p *player) header(status int, contentType string) {
	h := p.w.Header()
	h.Set("Content-Type", contentType)
	id := "req_" + strconv.FormatInt(p.serial, 10)
	if p.wire == anthropicWire {
		h.Set("Request-Id", id)
	} else {
		h.Set("X-Request-Id", id)
	}
	for name, values := range p.script.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	p.w.WriteHeader(status)
}

// whole sends a body at once, or in two halves when something is to happen in
// the middle of it.
func (p *player) whole(status int, body []byte) error {
	contentType := "application/json"
	if p.script.Body != "" && p.req.Stream {
		contentType = "text/event-stream"
	}
	p.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	p.header(status, contentType)

	s := &p.script
	if s.CutAfter > 0 || s.HangAfter != 0 || s.HoldChunks != nil {
		half := len(body) / 2
		if err := p.send(body[:half]); err != nil {
			return err
		}
		if s.HoldChunks != nil {
			if err := p.wait(s.HoldChunks); err != nil {
				return err
			}
		}
		switch {
		case s.CutAfter > 0:
			return errCut
		case s.HangAfter != 0:
			return p.wait(nil)
		}
		body = body[half:]
	}
	if !p.settle() {
		return errGone
	}
	return p.write(body)
}

// send writes and flushes, unless the client or the upstream has gone.
func (p *player) send(b []byte) error {
	select {
	case <-p.ctx.Done():
		return errGone
	case <-p.up.life.Done():
		return errClosed
	default:
	}
	if err := p.write(b); err != nil {
		return err
	}
	return p.lost(p.rc.Flush())
}

func (p *player) write(b []byte) error {
	_, err := p.w.Write(b)
	return p.lost(err)
}

// lost tells whose fault a failed write is.
func (p *player) lost(err error) error {
	switch {
	case err == nil || errors.Is(err, http.ErrNotSupported):
		return nil
	case p.up.life.Err() != nil:
		return errClosed
	}
	p.req.markGone()
	return errGone
}
