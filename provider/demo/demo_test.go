package demo_test

import (
	"context"
	"strings"
	"testing"

	"parley"
	"parley/provider/demo"
	"parley/provider/providertest"
)

func model(name string) parley.Model {
	return parley.Model{ModelRef: parley.ModelRef{Provider: demo.ID, Name: name}}
}

func TestSuite(t *testing.T) { //nolint:paralleltest // the suite decides
	providertest.Run(t, providertest.Harness{
		New: func(testing.TB, providertest.Endpoint) parley.Provider {
			return demo.New(demo.Config{Pause: -1})
		},
		Model: model("demo-fast"), NoUpstream: true, Keyless: true,
	})
}

func user(parts ...string) parley.Message {
	m := parley.Message{Role: parley.RoleUser}
	for _, p := range parts {
		m.Parts = append(m.Parts, parley.Part{Text: p})
	}
	return m
}

func TestShowsThatItRemembers(t *testing.T) {
	t.Parallel()
	p := demo.New(demo.Config{Pause: -1})
	reply, err := p.Ask(t.Context(), parley.Call{Model: model("demo-fast"), Messages: []parley.Message{
		user("first?", "[chat | demo/demo-deep answered, quote 1f]\n\nyes\n\n[end of quote 1f]", "second?"),
	}}, func(parley.Delta) {})
	if err != nil || !strings.Contains(reply.Text, `"second?"`) || !strings.Contains(reply.Text, `1 earlier, beginning with "first?"`) {
		t.Errorf("%q %v", reply.Text, err)
	}
}

func TestUnknownModel(t *testing.T) {
	t.Parallel()
	_, err := demo.New(demo.Config{}).Ask(t.Context(), parley.Call{Model: model("demo-huge")}, func(parley.Delta) {})
	if parley.ErrorCode(err) != parley.CodeModelNotFound {
		t.Error(err)
	}
}

func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	words := 0
	_, err := demo.New(demo.Config{Pause: -1}).Ask(ctx, parley.Call{Model: model("demo-slow"), Messages: []parley.Message{user("?")}}, func(parley.Delta) {
		if words++; words == 3 {
			cancel()
		}
	})
	if parley.ErrorCode(err) != parley.CodeCancelled || words > 4 {
		t.Errorf("%d words, %v", words, err)
	}
}
