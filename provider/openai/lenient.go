package openai

import (
	"bytes"
	"encoding/json"

	"parley"
	"parley/provider/wire"
)

// tally makes the parts fit the whole: cached tokens are part of the input and
// reasoning is part of the output. Where a vendor counts reasoning apart (xAI),
// its total gives it away.
func tally(input, cached, output, reasoning, total wire.Count) parley.Usage {
	if reasoning > 0 && total == input+output+reasoning {
		output += reasoning
	}
	return parley.Usage{
		InputTokens:       int(input),
		CachedInputTokens: int(min(cached, input)),
		OutputTokens:      int(output),
		ReasoningTokens:   int(min(reasoning, output)),
	}
}

// content is a string with most vendors, and a list of parts with some that
// think aloud (Mistral).
type content struct{ text, thought string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if b[0] == '"' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	if json.Unmarshal(b, &parts) != nil {
		return nil //nolint:nilerr // content of a kind we do not know is no content
	}
	for _, p := range parts {
		c.text += p.Text
		for _, t := range p.Thinking {
			c.thought += t.Text
		}
	}
	return nil
}

// present tells whether a raw field is there and holds something.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}
