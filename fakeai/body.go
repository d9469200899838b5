package fakeai

import (
	"encoding/json"
	"strings"
)

type object = map[string]any

// decode fills r.JSON; false means that the body is no JSON object.
func (r *Request) decode() bool {
	return json.Unmarshal(r.Body, &r.JSON) == nil && r.JSON != nil
}

// word is the string at key, and "" for anything else.
func word(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// has tells whether key is there and not null.
func has(o object, key string) bool { return o[key] != nil }

// atLeast tells whether v is a whole number from low on.
func atLeast(v any, low float64) bool {
	n, ok := v.(float64)
	return ok && n >= low && n == float64(int64(n))
}

// between tells whether the number at key, if there is one, lies in the range.
func between(o object, key string, low, high float64) bool {
	if !has(o, key) {
		return true
	}
	n, ok := o[key].(float64)
	return ok && n >= low && n <= high
}

// stranger is the first key of o, by name, that is not among the known words.
func stranger(o object, known map[string]bool) (key string, found bool) {
	for k := range o {
		if !known[k] && (!found || k < key) {
			key, found = k, true
		}
	}
	return key, found
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// add joins the parts of one message.
func (m *Message) add(text string) {
	if m.Text != "" {
		m.Text += "\n"
	}
	m.Text += text
}
