package engine

import (
	"container/list"
	"context"
	"sync"

	"parley"
)

// slots are a bounded number of places with a bounded queue, first come first
// served.
type slots struct {
	mu      sync.Mutex
	free    int
	room    int
	waiters list.List // of chan struct{}
}

func newSlots(places, queue int) *slots { return &slots{free: places, room: queue} }

// ticket is a place, or a place in the queue for one. It must be returned.
type ticket struct {
	of    *slots
	ready chan struct{} // closed when the place is ours; nil if it is at once
	elem  *list.Element
}

// draw takes a place or joins the queue; it refuses when the queue is full.
func (s *slots) draw() (*ticket, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 && s.waiters.Len() == 0 {
		s.free--
		return &ticket{of: s}, true
	}
	if s.waiters.Len() >= s.room {
		return nil, false
	}
	t := &ticket{of: s, ready: make(chan struct{})}
	t.elem = s.waiters.PushBack(t.ready)
	return t, true
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
	mu            sync.Mutex
	places, queue int
	bySession     map[string]*sessionEntry
}

type sessionEntry struct {
	slots *slots
	users int
}

func newSessionSlots(places, queue int) *sessionSlots {
	return &sessionSlots{places: places, queue: queue, bySession: make(map[string]*sessionEntry)}
}

// draw is like [slots.draw]; give returns the ticket.
func (s *sessionSlots) draw(session string) (t *ticket, give func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.bySession[session]
	if entry == nil {
		entry = &sessionEntry{slots: newSlots(s.places, s.queue)}
		s.bySession[session] = entry
	}
	t, ok = entry.slots.draw()
	if !ok {
		return nil, nil, false
	}
	entry.users++
	return t, func() {
		t.give()
		s.mu.Lock()
		defer s.mu.Unlock()
		if entry.users--; entry.users == 0 {
			delete(s.bySession, session)
		}
	}, true
}

// place is a run's permission to work: one slot of its session and one of the
// process.
type place struct {
	session, global *ticket
	give            func()
}

// draw admits a run, or refuses it when too many are waiting already.
func (e *Engine) draw(session string) (*place, error) {
	full := &parley.Error{
		Code: parley.CodeOverCapacity, Message: "too many calls are waiting already",
		Hint: "Wait for some of them to finish, then call again.", Retryable: true,
	}
	own, giveOwn, ok := e.sessions.draw(session)
	if !ok {
		return nil, full
	}
	global, ok := e.places.draw()
	if !ok {
		giveOwn()
		return nil, full
	}
	return &place{session: own, global: global, give: func() { global.give(); giveOwn() }}, nil
}

func (p *place) queued() bool { return p.session.queued() || p.global.queued() }

func (p *place) wait(ctx context.Context) error {
	if err := p.session.wait(ctx); err != nil {
		return err
	}
	return p.global.wait(ctx)
}
