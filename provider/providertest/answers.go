package providertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
)

func streams(t *testing.T, h Harness) {
	b := h.setup(t)
	text := "One two three four, and so on to ten."
	b.up.Script("", fakeai.Script{Text: text, Chunks: 7})
	d := b.mustAsk(t, h.call("count"))
	if d.reply.Text != text {
		t.Errorf("reply %q, want %q", d.reply.Text, text)
	}
	n := 0
	for _, delta := range d.deltas {
		if delta.Text != "" {
			n++
		}
	}
	if n != 7 {
		t.Errorf("%d deltas with text, want 7", n)
	}
	if got, want := d.reply.FinishReason, "stop"; got != want {
		t.Errorf("finish reason %q, want %q", got, want)
	}
	if got, want := d.reply.Model, h.Model.Name; got != want {
		t.Errorf("answered by %q, want %q", got, want)
	}
}

func streamsOffline(t *testing.T, h Harness) {
	d := h.setup(t).mustAsk(t, h.call("count"))
	if d.reply.Text == "" || d.reply.FinishReason != "stop" {
		t.Errorf("reply %+v, want text and finish reason stop", d.reply)
	}
}

func concurrent(t *testing.T, h Harness) {
	b := h.setup(t)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			text := fmt.Sprintf("question %d of many", i)
			d := b.ask(t, h.call(text))
			if d.err != nil {
				t.Errorf("%s: %v", text, d.err)
			}
			if want := "ECHO: " + text; !h.NoUpstream && d.reply.Text != want {
				t.Errorf("reply %q, want %q", d.reply.Text, want)
			}
		})
	}
	wg.Wait()
	if !h.NoUpstream && len(b.up.Requests()) != 32 {
		t.Errorf("%d requests, want 32", len(b.up.Requests()))
	}
}

func usage(t *testing.T, h Harness) {
	full := parley.Usage{InputTokens: 1200, CachedInputTokens: 1000, OutputTokens: 340, ReasoningTokens: 300}
	if h.CacheWrites {
		full.CacheCreationInput = 50
	}
	if h.ReasoningUncounted {
		full.ReasoningTokens = 0
	}
	huge := int(^uint(0) >> 2)
	for name, c := range map[string]struct {
		script fakeai.Script
		want   parley.Usage
	}{
		"full": {fakeai.Script{Usage: &fakeai.Usage{
			Input: 1200, CachedInput: 1000, CacheWrite: full.CacheCreationInput, Output: 340, Reasoning: 300,
		}}, full},
		"missing":  {fakeai.Script{NoUsage: true}, parley.Usage{}},
		"negative": {fakeai.Script{Usage: &fakeai.Usage{Input: -5, CachedInput: -4, Output: -3, Reasoning: -2}}, parley.Usage{}},
		"absurd":   {fakeai.Script{Usage: &fakeai.Usage{Input: huge, CachedInput: huge, Output: huge, Reasoning: huge}}, parley.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			b := h.setup(t)
			c.script.Text = "fine"
			b.up.Script("", c.script)
			if diff := cmp.Diff(c.want, b.mustAsk(t, h.call("hello")).reply.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func reasoning(t *testing.T, h Harness) {
	b := h.setup(t)
	thought := "Let me see. The user wants a number, and numbers are easy."
	b.up.Script("", fakeai.Script{Text: "Seven.", Reasoning: thought})
	d := b.mustAsk(t, h.call("a number"))
	if got := d.reasoning(); got != thought {
		t.Errorf("reasoning %q, want %q", got, thought)
	}
	if got, want := d.reply.Text, "Seven."; got != want {
		t.Errorf("reply %q, want %q", got, want)
	}
}

func finish(t *testing.T, h Harness) {
	for _, c := range []struct{ script, want string }{
		{fakeai.FinishStop, "stop"},
		{fakeai.FinishLength, "length"},
		{fakeai.FinishFilter, "filter"},
		{"mystery_reason", "mystery_reason"},
	} {
		t.Run(c.script, func(t *testing.T) {
			b := h.setup(t)
			b.up.Script("", fakeai.Script{Text: "As far as it goes.", Finish: c.script})
			d := b.mustAsk(t, h.call("hello"))
			if d.reply.FinishReason != c.want || d.reply.Text != "As far as it goes." {
				t.Errorf("reply %+v, want finish reason %q and the text", d.reply, c.want)
			}
		})
	}
}

func comments(t *testing.T, h Harness) {
	b := h.setup(t)
	b.up.Script("", fakeai.Script{Text: "Despite everything: an answer.", Chunks: 5, Comments: true})
	if got, want := b.mustAsk(t, h.call("hello")).reply.Text, "Despite everything: an answer."; got != want {
		t.Errorf("reply %q, want %q", got, want)
	}
}

func large(t *testing.T, h Harness) {
	b := h.setup(t)
	text := strings.Repeat("0123456789abcdeé", 1<<20/17)
	b.up.Script("", fakeai.Script{Text: text, Chunks: 5000})
	d := b.mustAsk(t, h.call("hello"))
	if d.reply.Text != text {
		t.Errorf("%d bytes came, want the %d that were sent", len(d.reply.Text), len(text))
	}
}

func cancelledBefore(t *testing.T, h Harness) {
	b := h.setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := b.askUnder(ctx, t, h.call("hello"), nil)
	if !errors.Is(d.err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", d.err)
	}
	if !h.NoUpstream && len(b.up.Requests()) != 0 {
		t.Error("a cancelled question was asked")
	}
}
