package engine

import (
	"container/list"
	"context"
	"sync"

	"parley"
)

// slots are a bounded number of places with a queue, first come first served.
type slots struct {
	mu      sync.Mutex
	free    int
	waiters list.List // of chan struct{}
}

func newSlots(places int) *slots { return &slots{free: places} }

// ticket is a place, or a place in the queue for one. It must be given back.
type ticket struct {
	of    *slots
	ready chan struct{} // closed when the place is ours; nil if it was at once
	elem  *list.Element
}

// draw takes a place or joins the queue.
func (s *slots) draw() *ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 && s.waiters.Len() == 0 {
		s.free--
		return &ticket{of: s}
	}
	t := &ticket{of: s, ready: make(chan struct{})}
	t.elem = s.waiters.PushBack(t.ready)
	return t
}

// waiting is how many stand in the queue.
func (s *slots) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiters.Len()
}

// queued reports whether the ticket still waits for its place.
func (t *ticket) queued() bool {
	if t.ready == nil {
		return false
	}
	select {
	case <-t.ready:
		return false
	default:
		return true
	}
}

// wait returns when the place is ours or ctx ends.
func (t *ticket) wait(ctx context.Context) error {
	if t.ready == nil {
		return nil
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// give returns the place, or leaves the queue.
func (t *ticket) give() {
	s := t.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.elem != nil {
		select {
		case <-t.ready: // the place was ours
		default:
			s.waiters.Remove(t.elem)
			return
		}
	}
	if front := s.waiters.Front(); front != nil {
		close(s.waiters.Remove(front).(chan struct{})) //nolint:forcetypeassert // only these are pushed
		return
	}
	s.free++
}

// sessionSlots keeps slots per session for as long as the session has tickets.
type sessionSlots struct {
	mu        sync.Mutex
	places    int
	bySession map[string]*sessionEntry
}

type sessionEntry struct {
	slots *slots
	users int
}

func newSessionSlots(places int) *sessionSlots {
	return &sessionSlots{places: places, bySession: make(map[string]*sessionEntry)}
}

// draw is like [slots.draw]; give gives the ticket back.
func (s *sessionSlots) draw(session string) (t *ticket, give func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.bySession[session]
	if entry == nil {
		entry = &sessionEntry{slots: newSlots(s.places)}
		s.bySession[session] = entry
	}
	entry.users++
	t = entry.slots.draw()
	return t, func() {
		t.give()
		s.mu.Lock()
		defer s.mu.Unlock()
		if entry.users--; entry.users == 0 {
			delete(s.bySession, session)
		}
	}
}

// admission bounds what the process takes on, and shares its places fairly: a
// run stands in line for one of the process's places only once its session has
// one for it.
type admission struct {
	mu       sync.Mutex
	room     int // how many more may be admitted
	sessions *sessionSlots
	places   *slots
}

func newAdmission(l Limits) *admission {
	return &admission{room: l.Runs + l.Queue, sessions: newSessionSlots(l.PerSession), places: newSlots(l.Runs)}
}

// place is a run's permission to work. It belongs to one goroutine at a time.
type place struct {
	of          *admission
	session     *ticket
	giveSession func()
	global      *ticket // nil until the session's place is ours
}

// draw admits a run, or refuses it when too many are waiting already.
func (a *admission) draw(session string) (*place, error) {
	a.mu.Lock()
	full := a.room == 0
	if !full {
		a.room--
	}
	a.mu.Unlock()
	if full {
		return nil, &parley.Error{
			Code: parley.CodeOverCapacity, Message: "too many calls are waiting already",
			Hint: "Wait for some of them to finish, then call again.", Retryable: true,
		}
	}
	p := &place{of: a}
	p.session, p.giveSession = a.sessions.draw(session)
	if !p.session.queued() {
		p.global = a.places.draw()
	}
	return p, nil
}

func (p *place) queued() bool { return p.global == nil || p.global.queued() }

func (p *place) wait(ctx context.Context) error {
	if err := p.session.wait(ctx); err != nil {
		return err
	}
	if p.global == nil {
		p.global = p.of.places.draw()
	}
	return p.global.wait(ctx)
}

func (p *place) give() {
	if p.global != nil {
		p.global.give()
	}
	p.giveSession()
	p.of.mu.Lock()
	p.of.room++
	p.of.mu.Unlock()
}
