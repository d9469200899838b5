// Package demo is a provider of simulated models. It shows what parley does
// without a key: nothing is asked, and nothing leaves the machine.
package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley"
)

// ID is the provider's name.
const ID = "demo"

// Provider answers with prepared sentences about what it was sent.
type Provider struct {
	// pace is the pause before each word.
	pace func(model string) time.Duration
}

// Config of the simulated models. The zero value paces them like real ones.
type Config struct {
	// Pause overrides the pause before each word, for all models; negative for none.
	Pause time.Duration
}

// New makes the provider.
func New(cfg Config) *Provider {
	return &Provider{pace: func(model string) time.Duration {
		switch {
		case cfg.Pause != 0:
			return max(0, cfg.Pause)
		case model == "demo-slow":
			return 80 * time.Millisecond
		case model == "demo-deep":
			return 40 * time.Millisecond
		}
		return 15 * time.Millisecond
	}}
}

// ID implements [parley.Provider].
func (p *Provider) ID() string { return ID }

// Fingerprint implements [parley.Provider]. All simulations are alike, so any
// process can take up another's run.
func (p *Provider) Fingerprint() string { return "demo" }

// Ask implements [parley.Provider].
func (p *Provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	name := call.Model.Name
	known := false
	for _, m := range Models() {
		known = known || m == name
	}
	if !known {
		return parley.Reply{}, parley.Errorf(parley.CodeModelNotFound, "there is no simulated model %q", name).
			WithHint("The simulated models are %s.", strings.Join(Models(), ", "))
	}
	var said strings.Builder
	pause := time.NewTimer(p.pace(name))
	defer pause.Stop()
	for word := range strings.SplitAfterSeq(answer(name, questions(call.Messages)), " ") {
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		if ctx.Err() != nil {
			err := parley.AsError(context.Cause(ctx))
			err.Provider, err.Model = ID, name
			return parley.Reply{Text: said.String()}, err
		}
		said.WriteString(word)
		if stream != nil {
			stream(parley.Delta{Text: word})
		}
		pause.Reset(p.pace(name))
	}
	return parley.Reply{
		Text: said.String(), FinishReason: "stop", Model: name,
		Usage: parley.Usage{InputTokens: size(call) / bytesPerToken, OutputTokens: said.Len() / bytesPerToken},
	}, nil
}

// Models are the names of the simulated models.
func Models() []string { return []string{"demo-fast", "demo-deep", "demo-slow"} }

const bytesPerToken = 4

func size(call parley.Call) int {
	n := len(call.System)
	for _, m := range call.Messages {
		for _, part := range m.Parts {
			n += len(part.Text)
		}
	}
	return n
}

// questions are the user's parts, without what other models answered in between.
func questions(messages []parley.Message) []string {
	var asked []string
	for _, m := range messages {
		if m.Role != parley.RoleUser {
			continue
		}
		for _, part := range m.Parts {
			head, _, _ := strings.Cut(part.Text, "\n")
			if !strings.Contains(head, " answered, quote ") {
				asked = append(asked, part.Text)
			}
		}
	}
	return asked
}

func answer(model string, asked []string) string {
	if len(asked) == 0 {
		return "This is a simulated answer; there was no question."
	}
	text := fmt.Sprintf("This is a simulated answer from %s. You asked: %q. ", model, parley.TitleOf(asked[len(asked)-1]))
	if before := len(asked) - 1; before > 0 {
		text += fmt.Sprintf("I was also shown what you asked before in this thread: %d earlier, beginning with %q. ", before, parley.TitleOf(asked[0]))
	} else {
		text += "This is the first question of the thread. "
	}
	if model == "demo-slow" {
		text += "I take my time, so that you can watch a run go on in the background, ask for its draft with check_status, " +
			"cancel it, or kill the process and see the next one take it up. "
	}
	return text + "Set a key such as OPENAI_API_KEY, and a real model answers here."
}
