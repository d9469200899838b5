package openai

import (
	"encoding/json"
	"strconv"

	"parley"
)

// maxCount is more tokens than any request can have.
const maxCount = 1_000_000_000

// count is a number of tokens. What cannot be one is zero.
type count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(b []byte) error {
	*c = 0
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f > 0 && f <= maxCount {
		*c = count(f)
	}
	return nil
}

// tally makes the parts fit the whole: cached tokens are part of the input and
// reasoning is part of the output. Where a vendor counts reasoning apart (xAI),
// its total gives it away.
func tally(input, cached, output, reasoning, total count) parley.Usage {
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
