package providertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
)

func message(role parley.Role, texts ...string) parley.Message {
	m := parley.Message{Role: role}
	for _, text := range texts {
		m.Parts = append(m.Parts, parley.Part{Text: text})
	}
	return m
}

func conversation(t *testing.T, h Harness) {
	b := h.setup(t)
	call := h.call("")
	call.System = "You are terse."
	call.Messages = []parley.Message{
		message(parley.RoleUser, "What is 2+2?"),
		message(parley.RoleAssistant, "4"),
		message(parley.RoleUser, "And doubled?"),
		message(parley.RoleAssistant, "8"),
		message(parley.RoleUser, "Why?"),
	}
	d := b.mustAsk(t, call)
	if got, want := d.reply.Text, "ECHO: Why?"; got != want {
		t.Errorf("reply %q, want %q", got, want)
	}
	req := b.request(t)
	if got, want := req.System, "You are terse."; got != want {
		t.Errorf("system %q, want %q", got, want)
	}
	want := []fakeai.Message{
		{Role: "user", Text: "What is 2+2?"},
		{Role: "assistant", Text: "4"},
		{Role: "user", Text: "And doubled?"},
		{Role: "assistant", Text: "8"},
		{Role: "user", Text: "Why?"},
	}
	if diff := cmp.Diff(want, req.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got, want := req.Model, h.Model.Name; got != want {
		t.Errorf("model %q, want %q", got, want)
	}
	if !req.Stream {
		t.Error("the request does not ask for a stream")
	}
	for _, m := range call.Messages {
		if n := strings.Count(string(req.Body), `"`+m.Parts[0].Text+`"`); n != 1 {
			t.Errorf("%q appears %d times in the body, want once", m.Parts[0].Text, n)
		}
	}
}

func noSystem(t *testing.T, h Harness) {
	b := h.setup(t)
	b.mustAsk(t, h.call("hello"))
	req := b.request(t)
	if req.System != "" {
		t.Errorf("system %q, want none", req.System)
	}
	if diff := cmp.Diff([]fakeai.Message{{Role: "user", Text: "hello"}}, req.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func parts(t *testing.T, h Harness) {
	b := h.setup(t)
	call := h.call("")
	call.Messages = []parley.Message{message(parley.RoleUser, "file one", "file two", "the question")}
	b.mustAsk(t, call)
	join := h.Joined
	if join == nil {
		join = func(parts ...string) string { return strings.Join(parts, "\n") }
	}
	want := []fakeai.Message{{Role: "user", Text: join("file one", "file two", "the question")}}
	if diff := cmp.Diff(want, b.request(t).Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// foreignText must arrive byte for byte.
func foreignText(t *testing.T, h Harness) {
	b := h.setup(t)
	text := "Grüße, 世界 🎉 <b>&amp;</b> \\n \"quoted\" \u2028 tab\tnull\u0001 data: [DONE]\r\n\r\nevent: x"
	d := b.mustAsk(t, h.call(text))
	if got, want := d.reply.Text, "ECHO: "+text; got != want {
		t.Errorf("reply %q, want %q", got, want)
	}
	if got := b.request(t).Messages[0].Text; got != text {
		t.Errorf("sent %q, want %q", got, text)
	}
}

func effort(t *testing.T, h Harness) {
	if h.Effort == nil {
		t.Skip("the harness knows no effort")
	}
	for _, e := range append([]parley.Effort{""}, h.Model.Efforts...) {
		t.Run("effort "+string(e), func(t *testing.T) {
			b := h.setup(t)
			call := h.call("think")
			call.Options.Effort = e
			b.mustAsk(t, call)
			want, ok := h.EffortWords[e]
			if !ok {
				want = string(e)
			}
			if got := h.Effort(b.request(t).JSON); got != want {
				t.Errorf("effort %q was sent as %q, want %q", e, got, want)
			}
		})
	}
}

func temperature(t *testing.T, h Harness) {
	zero, warm := 0.0, 0.7
	for name, temp := range map[string]*float64{"absent": nil, "zero": &zero, "warm": &warm} {
		t.Run(name, func(t *testing.T) {
			b := h.setup(t)
			call := h.call("hello")
			call.Options.Temperature = temp
			b.mustAsk(t, call)
			var want any
			if temp != nil {
				want = *temp
			}
			if got := h.Temperature(b.request(t).JSON); got != want {
				t.Errorf("temperature %v, want %v", got, want)
			}
		})
	}
}

func maxOutput(t *testing.T, h Harness) {
	for name, limit := range map[string]int{"absent": 0, "some": 1234} {
		t.Run(name, func(t *testing.T) {
			b := h.setup(t)
			call := h.call("hello")
			call.MaxOutput = limit
			b.mustAsk(t, call)
			got := h.MaxOutput(b.request(t).JSON)
			switch {
			case limit == 0 && h.MaxOutputRequired:
				if got == nil {
					t.Error("no output limit was sent, and the vendor wants one")
				}
			case limit == 0:
				if got != nil {
					t.Errorf("output limit %v was sent, want none", got)
				}
			case got != float64(limit):
				t.Errorf("output limit %v, want %d", got, limit)
			}
		})
	}
}

func keyIsSent(t *testing.T, h Harness) {
	b := h.setup(t)
	b.mustAsk(t, h.call("hello"))
	key := h.Key
	if key == nil {
		key = func(r *fakeai.Request) string {
			return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
	}
	req := b.request(t)
	if got := key(req); got != Key {
		t.Errorf("key %q, want %q", got, Key)
	}
	if places := holders(req, Key); len(places) != 1 {
		t.Errorf("the key was sent in %v, want one place", places)
	}
	if !h.Keyless {
		return
	}
	up := fakeai.Start()
	t.Cleanup(up.Close)
	b = &bundle{h: h, up: up, provider: h.New(t, Endpoint{Upstream: up, Client: newClient(t)})}
	b.mustAsk(t, h.call("hello"))
	if header := b.request(t).Header; header.Get("Authorization") != "" || key(b.request(t)) != "" {
		t.Errorf("a provider without a key sent one: %v", header)
	}
}

// holders names the parts of a request that contain the text.
func holders(r *fakeai.Request, text string) []string {
	var found []string
	for name, values := range r.Header {
		if slices.ContainsFunc(append(values, name), func(v string) bool { return strings.Contains(v, text) }) {
			found = append(found, "header "+name)
		}
	}
	query, _ := json.Marshal(r.Query)
	for where, what := range map[string]string{"body": string(r.Body), "path": r.Path, "query": string(query)} {
		if strings.Contains(what, text) {
			found = append(found, where)
		}
	}
	return found
}
