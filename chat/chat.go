// Package chat is the simplest plan: one question to one model.
package chat

import (
	"context"

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
		Notes: append(seat.Notes, reply.Notes...),
	}
	if err == nil {
		result.Answers = []parley.Answer{{Model: result.Model, Text: reply.Text}}
	}
	return result, err
}
