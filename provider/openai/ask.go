package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"parley"
	"parley/provider/wire"
)

// lingering is how long the end of a response is waited for once the answer is
// complete. Reading to the end is what lets the connection be used again.
const lingering = 100 * time.Millisecond

// Ask implements [parley.Provider].
func (p *Provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	if p.broken != "" {
		return parley.Reply{}, p.unusable(call.Model.Name)
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	asking, record := wire.WithRecord(asking)

	a := newAnswer(stream)
	if call.Options.WebSearch && p.wire == WireChat {
		a.reply.Notes = append(a.reply.Notes, "use_websearch dropped: Chat Completions has no web search")
	}
	res, err := p.send(asking, call)
	if err != nil {
		return a.result(), p.failed(ctx, call, record, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		return a.result(), p.failed(ctx, call, record, nil)
	}
	if err := p.read(res.Body, a); err != nil {
		return a.result(), p.broke(ctx, call, a, record.Last(), err)
	}
	timer := time.AfterFunc(lingering, stop)
	_, _ = io.Copy(io.Discard, res.Body)
	timer.Stop()
	return a.result(), p.judge(call, a)
}

// unusable is for providers that were set up wrong.
func (p *Provider) unusable(model string) *parley.Error {
	return &parley.Error{
		Code: parley.CodeProviderUnavailable, Message: p.id + " cannot be asked: " + p.broken,
		Hint:     "Set the base URL of " + p.id + ", such as https://host/v1.",
		Provider: p.id, Model: model,
	}
}

// failed is for requests that were not answered.
func (p *Provider) failed(ctx context.Context, call parley.Call, record *wire.Record, err error) error {
	if interrupted := wire.Interrupted(ctx, p.id, call.Model.Name); interrupted != nil {
		return interrupted
	}
	last := record.Last()
	if last.Host == "" && err != nil {
		return &parley.Error{
			Code: parley.CodeInternal, Message: "the request to " + p.id + " could not be built",
			Provider: p.id, Model: call.Model.Name, Err: errors.New(wire.Mask(err.Error(), p.secrets...)),
		}
	}
	if last.Status < http.StatusMultipleChoices && last.Err == nil && err == nil {
		err = io.ErrUnexpectedEOF
	}
	return p.classify(call, wire.Failed(last, err))
}

func (p *Provider) classify(call parley.Call, f wire.Failure) *parley.Error {
	f.Provider, f.Model, f.Secrets = p.id, call.Model.Name, p.secrets
	return f.Classify()
}

// broke is for answers that did not come to their end.
func (p *Provider) broke(ctx context.Context, call parley.Call, a *answer, last wire.Exchange, err error) error {
	if interrupted := wire.Interrupted(ctx, p.id, call.Model.Name); interrupted != nil {
		return interrupted
	}
	var (
		said  *saidError
		large *wire.TooLargeError
	)
	switch {
	case errors.As(err, &said):
		return p.classify(call, wire.Failure{
			Host: last.Host, Status: http.StatusOK, Header: last.Header, RequestID: last.RequestID(), Words: said.words,
		})
	case errors.As(err, &large):
		return p.classify(call, wire.Failure{Host: last.Host, Err: err})
	}
	e := p.upstream(call, "the answer was cut off: "+p.id+" ended it in the middle", true)
	switch {
	case errors.Is(err, errGarbled):
		e.Message = "the answer was cut off: " + p.id + " sent an event that could not be read"
	case errors.Is(err, errNoStream):
		e.Message = p.id + " sent something that is neither JSON nor an event stream"
		e.Hint, e.Retryable = "Check the base URL: something other than the provider's API answered.", false
	case errors.Is(err, errHTML):
		e.Message = p.id + " sent an HTML page instead of JSON"
		e.Hint, e.Retryable = "Check the base URL: something other than the provider's API answered.", false
	case errors.Is(err, errNothing):
		return p.empty(call, a)
	}
	e.Err = err
	return e
}

// judge looks at an answer that came to its end.
func (p *Provider) judge(call parley.Call, a *answer) error {
	if a.text.Len() > 0 {
		return nil
	}
	if a.reply.FinishReason == finishFilter {
		return &parley.Error{
			Code: parley.CodeContentFiltered, Message: p.id + " withheld the answer: its content filter stopped it",
			Hint:     "Rephrase the question or leave out the part that was refused; another provider may judge differently.",
			Provider: p.id, Model: call.Model.Name,
		}
	}
	return p.empty(call, a)
}

func (p *Provider) empty(call parley.Call, a *answer) error {
	if a.reply.FinishReason == finishLength {
		return p.upstream(call, p.id+" sent an empty answer: the output limit was used up before the first word", false).
			WithHint("Raise max_output_tokens or lower reasoning_effort; thinking counts as output.")
	}
	return p.upstream(call, p.id+" sent an empty answer", true)
}

func (p *Provider) upstream(call parley.Call, message string, retryable bool) *parley.Error {
	return &parley.Error{
		Code: parley.CodeUpstreamError, Message: message, Retryable: retryable,
		Provider: p.id, Model: call.Model.Name,
	}
}
