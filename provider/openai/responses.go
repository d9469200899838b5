package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"parley"
	"parley/provider/wire"
)

type responseDecoder struct{}

type responseEvent struct {
	Type        string          `json:"type"`
	Delta       string          `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Response    json.RawMessage `json:"response"`
}

type responseObject struct {
	Object     string          `json:"object"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage  responseUsage `json:"usage"`
	Output []struct {
		Type    string `json:"type"`
		Content []struct {
			Type    string `json:"type"`
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		} `json:"content"`
	} `json:"output"`
}

type responseUsage struct {
	Input        count `json:"input_tokens"`
	InputDetails struct {
		Cached count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        count `json:"output_tokens"`
	OutputDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total count `json:"total_tokens"`
}

func (u responseUsage) usage() parley.Usage {
	return tally(u.Input, u.InputDetails.Cached, u.Output, u.OutputDetails.Reasoning, u.Total)
}

func (d responseDecoder) event(a *answer, name string, data []byte) (done bool, err error) {
	// These repeat the text and can be as long as all that came before.
	if strings.HasPrefix(name, "response.") && (strings.HasSuffix(name, ".done") || strings.HasSuffix(name, ".added")) {
		a.alive()
		return false, nil
	}
	if string(data) == doneMark {
		return a.ended, nil
	}
	var e responseEvent
	if err := decode(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "response.output_text.delta":
		a.begin(e.OutputIndex)
		a.say(e.Delta)
	case "response.refusal.delta":
		a.begin(e.OutputIndex)
		a.reply.FinishReason = finishFilter
		a.say(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.think(e.Delta)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return true, d.end(a, e.Response)
	case "error":
		return false, &saidError{words: wire.ReadWords(data)}
	default:
		if e.Type == "" && name == "error" {
			return false, &saidError{words: wire.ReadWords(data)}
		}
		a.alive()
	}
	return false, nil
}

func (d responseDecoder) whole(a *answer, body []byte) error { return d.end(a, body) }

// end takes the response object, which has everything. Its text only counts
// where none was streamed.
func (responseDecoder) end(a *answer, data []byte) error {
	var r responseObject
	if err := decode(data, &r); err != nil {
		return err
	}
	a.name(r.Model)
	a.reply.Usage = r.Usage.usage()
	if present(r.Error) || r.Status == "failed" || r.Status == "cancelled" {
		return &saidError{words: wire.ReadWords(envelope(r))}
	}
	if a.text.Len() == 0 {
		a.take(r)
	}
	a.ended = true
	switch {
	case r.Status == "incomplete" || r.Incomplete.Reason != "":
		a.reply.FinishReason = responseFinish(r.Incomplete.Reason)
	case a.reply.FinishReason == "":
		a.reply.FinishReason = finishStop
	}
	return nil
}

func (a *answer) take(r responseObject) {
	for i, item := range r.Output {
		if item.Type != "message" {
			continue
		}
		for _, part := range item.Content {
			switch {
			case part.Text != "" && part.Type == "output_text":
				a.begin(i)
				a.say(part.Text)
			case part.Refusal != "":
				a.begin(i)
				a.reply.FinishReason = finishFilter
				a.say(part.Refusal)
			}
		}
	}
}

// envelope makes the error of a failed response look like every other.
func envelope(r responseObject) []byte {
	if !present(r.Error) {
		return []byte(`{"error":{"code":"server_error","message":"The response ` + r.Status + `."}}`)
	}
	return []byte(`{"error":` + string(r.Error) + `}`)
}

func responseFinish(reason string) string {
	switch reason {
	case "max_output_tokens":
		return finishLength
	case "content_filter":
		return finishFilter
	case "":
		return "incomplete"
	}
	return cmp.Or(wire.Plain(reason, 60), "unknown")
}
