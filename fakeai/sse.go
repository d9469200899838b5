package fakeai

import "strconv"

// sse frames events. The zero value writes no comments.
type sse struct{ comments bool }

// event starts an event; what is appended next is its data, and eventEnd
// finishes it. A nameless event has no event line.
func (s sse) event(b []byte, name string) []byte {
	if s.comments {
		b = append(b, ": keepalive\n\n"...)
	}
	if name != "" {
		b = append(b, "event: "...)
		b = append(b, name...)
		b = append(b, '\n')
	}
	return append(b, "data: "...)
}

const eventEnd = "\n\n"

// send appends a whole event.
func (s sse) send(b []byte, name string, data []byte) []byte {
	b = s.event(b, name)
	b = append(b, data...)
	return append(b, eventEnd...)
}

// delta appends an event that is one string between two constants.
func (s sse) delta(b []byte, name, before, text, after string) []byte {
	b = s.event(b, name)
	b = append(b, before...)
	b = appendQuoted(b, text)
	b = append(b, after...)
	return append(b, eventEnd...)
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
