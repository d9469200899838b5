package engine

import (
	"context"
	"fmt"

	"parley"
	"parley/brief"
	"parley/route"
)

// seats routes and briefs every model that the plan asks: which model answers,
// why, and which turns it will be shown.
func (e *Engine) seats(ctx context.Context, req parley.Request, plan parley.Plan, thread parley.Thread) ([]parley.Seat, error) {
	names := plan.Seats()
	if len(names) == 0 {
		return nil, nil
	}
	seats := make([]parley.Seat, len(names))
	counted := -1
	for i, name := range names {
		choice, err := route.Decide(route.Ask{
			Model: name, Provider: req.Provider, Tool: req.Tool, Thread: thread.LastModel,
		}, e.world)
		if err != nil {
			return nil, err
		}
		if counted < 0 || e.counter.TooLong(req.Prompt, choice.Model.Context) {
			counted, err = e.questionTokens(ctx, req.Prompt, choice.Model)
			if err != nil {
				return nil, err
			}
		}
		seats[i], err = e.seat(ctx, req, choice, thread, counted)
		if err != nil {
			return nil, err
		}
	}
	return seats, nil
}

// questionTokens counts the question, unless its sheer size already says that
// it does not fit.
func (e *Engine) questionTokens(ctx context.Context, prompt string, m parley.Model) (int, error) {
	if e.counter.TooLong(prompt, m.Context) {
		return 0, tooLong(m, len(prompt)/4)
	}
	return e.counter.Count(ctx, prompt)
}

func tooLong(m parley.Model, provided int) error {
	err := parley.Errorf(parley.CodeContextLengthExceeded,
		"the prompt has about %d tokens, and %s takes %d in all", provided, m.Name, m.Context).
		WithHint("Shorten the prompt, or choose a model with a larger context (listmodels shows them).")
	err.MaxTokens, err.ProvidedTokens = m.Context, provided
	err.Provider, err.Model = m.Provider, m.Name
	return err
}

func (e *Engine) seat(ctx context.Context, req parley.Request, choice route.Choice, thread parley.Thread, questionTokens int) (parley.Seat, error) {
	wanted := req.Options
	if choice.Effort != "" && wanted.Effort == "" {
		wanted.Effort = choice.Effort
	}
	wanted.WebSearch = wanted.WebSearch || choice.WebSearch
	options, notes := choice.Model.Fit(wanted)

	fit, err := brief.Fit(ctx, brief.Input{
		Model: choice.Model, ThreadTokens: thread.Tokens, Turns: thread.Turns,
		QuestionTokens: questionTokens, SystemTokens: e.systemTok(), MaxOutput: options.MaxOutput,
	})
	if err != nil {
		return parley.Seat{}, err
	}
	shown := parley.Span{From: 1, Through: thread.Turns}
	tokens := thread.Tokens
	if fit.Skip > 0 {
		shown.From, err = e.store.TurnAfter(ctx, thread.ID, fit.Skip)
		if err != nil {
			return parley.Seat{}, err
		}
		tokens -= fit.Skip
	}
	if shown.Len() == 0 {
		tokens = 0
	}
	if left := shown.From - 1; left > 0 {
		notes = append(notes, fmt.Sprintf("the first %d of %d turns were left out: the thread is longer than %s can be shown",
			left, thread.Turns, choice.Model.Name))
	}
	return parley.Seat{
		Decision:       choice.Decision,
		Shown:          shown,
		Fingerprint:    e.providers[choice.Model.Provider].Fingerprint(),
		QuestionTokens: questionTokens,
		BriefTokens:    int(tokens) + questionTokens + e.systemTok(),
		MaxOutput:      fit.MaxOutput,
		Options:        options,
		Notes:          append(choice.Notes, notes...),
	}, nil
}

// model finds the seat's model again, which the decision names by reference.
func (e *Engine) model(ref parley.ModelRef) parley.Model {
	if m, ok := e.catalogue.Lookup(ref.Provider, ref.Name); ok {
		m.ModelRef = ref
		return m
	}
	return parley.UnknownModel(ref.Provider, ref.Name)
}
