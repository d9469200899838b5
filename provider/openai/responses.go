package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"parley"
	"parley/provider/wire"
)

// responseDecoder reads one answer. It keeps the output item that the text so
// far came from.
type responseDecoder struct{ item int }

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
	Input        wire.Count `json:"input_tokens"`
	InputDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        wire.Count `json:"output_tokens"`
	OutputDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total wire.Count `json:"total_tokens"`
}

func (u responseUsage) usage() parley.Usage {
	return tally(u.Input, u.InputDetails.Cached, u.Output, u.OutputDetails.Reasoning, u.Total)
}

// Event implements [wire.Decoder].
func (d *responseDecoder) Event(a *wire.Answer, name string, data []byte) (done bool, err error) {
	// These repeat the text and can be as long as all that came before.
	if strings.HasPrefix(name, "response.") && (strings.HasSuffix(name, ".done") || strings.HasSuffix(name, ".added")) {
		a.Alive()
		return false, nil
	}
	if string(data) == doneMark {
		return a.Ended, nil
	}
	var e responseEvent
	if err := wire.Decode(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "response.output_text.delta":
		d.begin(a, e.OutputIndex)
		a.Say(e.Delta)
	case "response.refusal.delta":
		d.begin(a, e.OutputIndex)
		a.Reply.FinishReason = wire.FinishFilter
		a.Say(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.Think(e.Delta)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return true, d.end(a, e.Response)
	case "error":
		return false, &wire.SaidError{Words: wire.ReadWords(data)}
	default:
		if e.Type == "" && name == "error" {
			return false, &wire.SaidError{Words: wire.ReadWords(data)}
		}
		a.Alive()
	}
	return false, nil
}

// Whole implements [wire.Decoder].
func (d *responseDecoder) Whole(a *wire.Answer, body []byte) error { return d.end(a, body) }

// end takes the response object, which has everything. Its text only counts
// where none was streamed.
func (d *responseDecoder) end(a *wire.Answer, data []byte) error {
	var r responseObject
	if err := wire.Decode(data, &r); err != nil {
		return err
	}
	a.Name(r.Model)
	a.Reply.Usage = r.Usage.usage()
	if present(r.Error) || r.Status == "failed" || r.Status == "cancelled" {
		return &wire.SaidError{Words: wire.ReadWords(envelope(r))}
	}
	if !a.Said() {
		d.take(a, r)
	}
	a.Ended = true
	switch {
	case r.Status == "incomplete" || r.Incomplete.Reason != "":
		a.Reply.FinishReason = responseFinish(r.Incomplete.Reason)
	case a.Reply.FinishReason == "":
		a.Reply.FinishReason = wire.FinishStop
	}
	return nil
}

// begin separates the messages of an answer that has several, as answers that
// searched the web do.
func (d *responseDecoder) begin(a *wire.Answer, item int) {
	if item != d.item && a.Said() {
		a.Say("\n\n")
	}
	d.item = item
}

func (d *responseDecoder) take(a *wire.Answer, r responseObject) {
	for i, item := range r.Output {
		if item.Type != "message" {
			continue
		}
		for _, part := range item.Content {
			switch {
			case part.Text != "" && part.Type == "output_text":
				d.begin(a, i)
				a.Say(part.Text)
			case part.Refusal != "":
				d.begin(a, i)
				a.Reply.FinishReason = wire.FinishFilter
				a.Say(part.Refusal)
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
		return wire.FinishLength
	case "content_filter":
		return wire.FinishFilter
	case "":
		return "incomplete"
	}
	return cmp.Or(wire.Plain(reason, 60), "unknown")
}
