package fakeai

import (
	"errors"
	"net/http"
)

// stream sends the answer event by event.
func (p *player) stream(a *answer) error {
	enc := p.wire.stream(a)
	contentType := "text/event-stream; charset=utf-8"
	if !a.sse() {
		contentType = "application/json; charset=UTF-8"
	}
	p.w.Header().Set("Cache-Control", "no-cache")
	p.header(http.StatusOK, contentType)
	if err := p.emit(enc.open(p.buf[:0])); err != nil {
		return err
	}
	err := p.deltas(a, enc)
	switch {
	case errors.Is(err, errFailed):
		return nil
	case err != nil:
		return err
	}
	return p.last(enc.end(p.buf[:0]))
}

func (p *player) deltas(a *answer, enc encoder) error {
	s := &p.script
	for piece := range pieces(a.reasoning, 0) {
		if err := p.pace(); err != nil {
			return err
		}
		if err := p.emit(enc.reasoning(p.buf[:0], piece)); err != nil {
			return err
		}
	}
	if err := p.reach(enc, 0, false); err != nil {
		return err
	}
	n := 0
	for piece := range pieces(a.text, s.Chunks) {
		if err := p.pace(); err != nil {
			return err
		}
		if err := p.emit(enc.text(p.buf[:0], piece)); err != nil {
			return err
		}
		n++
		if err := p.reach(enc, n, false); err != nil {
			return err
		}
	}
	return p.reach(enc, n, true)
}

// emit sends b, which was appended to p.buf, and keeps it for the next event.
func (p *player) emit(b []byte) error {
	p.buf = b
	return p.send(b)
}

// last sends what completes the response.
func (p *player) last(b []byte) error {
	if !p.settle() {
		return errGone
	}
	return p.send(b)
}

// pace waits between deltas, so not before the first.
func (p *player) pace() error {
	if !p.paced {
		p.paced = true
		return nil
	}
	return p.delay(p.script.ChunkDelay)
}

// reach does what the script has planned after n deltas. At the end that
// includes what was planned for later.
func (p *player) reach(enc encoder, n int, end bool) error {
	s := &p.script
	due := func(after int) bool { return after == n || end && after > n }
	if s.HoldChunks != nil && !p.held && due(s.HoldAfter) {
		p.held = true
		if err := p.wait(s.HoldChunks); err != nil {
			return err
		}
	}
	switch {
	case due(place(s.CutAfter)):
		return errCut
	case due(place(s.HangAfter)):
		return p.wait(nil)
	case due(place(s.ErrorAfter)):
		if err := p.last(enc.fail(p.buf[:0], s.failure())); err != nil {
			return err
		}
		return errFailed
	}
	return nil
}

// place turns a script's count into a number of deltas: 0 is never, which no
// count reaches, and -1 is before the first.
func place(after int) int {
	const never = -1
	switch {
	case after == 0:
		return never
	case after < 0:
		return 0
	}
	return after
}
