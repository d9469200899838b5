package fakeai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// ServeHTTP answers one request by its script. Where the script, the client or
// Close breaks off the answer, it panics with http.ErrAbortHandler, which is how
// net/http is asked to drop a connection.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	// Entering only now keeps Close from waiting for a body that never comes.
	if err != nil || !u.enter() {
		panic(http.ErrAbortHandler)
	}
	defer u.running.Done()

	req := newRequest(r, body)
	defer close(req.done)
	settle := req.watch(r.Context())
	defer settle()

	p := &player{
		up:     u,
		ctx:    r.Context(),
		w:      w,
		rc:     http.NewResponseController(w),
		req:    req,
		serial: u.serial.Add(1),
		settle: settle,
	}
	release := p.breakWritesAtClose()
	defer release()
	if err := p.respond(r); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (p *player) respond(r *http.Request) error {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		p.wire = vendorOf(r)
		p.req.Wire = WireModels
		p.script = p.up.record(p.req, true)
		return p.perform()
	}

	var bad *fault
	var ok bool
	if p.wire, ok = wireFor(r); ok {
		p.req.Wire = p.wire.name
		bad = p.wire.read(p.req)
	} else {
		bad = &fault{
			status:  http.StatusNotFound,
			message: "Invalid URL (" + r.Method + " " + r.URL.Path + ")",
			code:    "unknown_url",
		}
	}
	p.script = p.up.record(p.req, bad == nil)
	if bad != nil {
		return p.whole(bad.status, p.wire.refuse(*bad))
	}
	return p.perform()
}

var errCut = errors.New("the script cuts the connection here")

// perform does what the script says, up to and including the response.
func (p *player) perform() error {
	s := &p.script
	if err := p.delay(s.Latency); err != nil {
		return err
	}
	if s.Hold != nil {
		if err := p.wait(s.Hold); err != nil {
			return err
		}
	}
	switch {
	case s.Hang:
		return p.wait(nil)
	case s.CutAfter < 0:
		return errCut
	case s.Body != "":
		return p.whole(statusOr200(s.Status), []byte(s.Body))
	case s.Status >= http.StatusBadRequest:
		return p.whole(s.Status, p.wire.refuse(s.failure()))
	case statusOr200(s.Status) != http.StatusOK:
		return p.whole(s.Status, nil)
	case p.req.Wire == WireModels:
		return p.whole(http.StatusOK, listModels(p.wire, p.up.models()))
	case s.ErrorAfter != 0 && !p.req.Stream:
		f := s.failure()
		return p.whole(f.status, p.wire.refuse(f))
	}
	a := p.compose()
	if p.req.Stream {
		return p.stream(a)
	}
	return p.whole(http.StatusOK, p.wire.whole(a))
}

func statusOr200(status int) int {
	if status == 0 {
		return http.StatusOK
	}
	return status
}

func (p *player) compose() *answer {
	s := &p.script
	a := &answer{
		req:       p.req,
		serial:    p.serial,
		created:   time.Now().Unix(),
		text:      s.text(p.req),
		reasoning: s.Reasoning,
		finish:    s.Finish,
		failure:   s.failure(),
		comments:  s.Comments,
	}
	if a.finish == "" {
		a.finish = FinishStop
	}
	a.usage = s.usage(p.req, a.text)
	return a
}
