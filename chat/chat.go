// Package chat is the simplest plan: one question to one model.
package chat

import (
	"context"
	"slices"

	"parley"
)

// Plan asks the model that the request names.
type Plan struct {
	model string
}

// New makes the plan for a request.
func New(req parley.Request) (parley.Plan, error) { return Plan{model: req.Model}, nil }

// Seats implements [parley.Plan].
func (p Plan) Seats() []string { return []string{p.model} }

// Do implements [parley.Plan].
func (p Plan) Do(ctx context.Context, w parley.Work) (parley.Result, error) {
	seat := w.Seat(0)
	reply, attempts, err := w.Ask(ctx, 0)
	result := parley.Result{
		Content: reply.Text, Model: seat.Decision.Chosen, Usage: reply.Usage,
		FinishReason: reply.FinishReason, Attempts: attempts,
		Notes: slices.Concat(seat.Notes, reply.Notes),
	}
	switch reply.FinishReason {
	case "length":
		result.Notes = append(result.Notes, "the answer stops at the output limit; ask it to go on, or raise max_output_tokens")
	case "filter":
		result.Notes = append(result.Notes, "the provider's content filter stopped the answer")
	}
	if err == nil {
		result.Answers = []parley.Answer{{Model: result.Model, Text: reply.Text}}
	}
	return result, err
}
