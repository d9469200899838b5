package anthropic

import (
	"cmp"

	"parley"
	"parley/provider/wire"
)

// decoder reads one answer. It keeps the usage, which comes in two pieces.
type decoder struct{ usage usage }

type event struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
	Block   block   `json:"content_block"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// message begins a stream, or is a whole answer.
type message struct {
	Type       string  `json:"type"`
	Model      string  `json:"model"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      usage   `json:"usage"`
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// usage counts what was cached apart from the input. The end of a stream repeats
// some of what its beginning said, or all: what is there replaces what was.
type usage struct {
	Input      *wire.Count `json:"input_tokens"`
	CacheRead  *wire.Count `json:"cache_read_input_tokens"`
	CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
	Output     *wire.Count `json:"output_tokens"`
	Details    struct {
		Thinking *wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// Event implements [wire.Decoder].
func (d *decoder) Event(a *wire.Answer, name string, data []byte) (done bool, err error) {
	if name == "ping" {
		a.Alive()
		return false, nil
	}
	var e event
	if err := wire.Decode(data, &e); err != nil {
		return false, err
	}
	switch cmp.Or(e.Type, name) {
	case "message_start":
		a.Name(e.Message.Model)
		d.count(a, e.Message.Usage)
		a.Alive()
	case "content_block_start":
		d.begin(a, e.Block)
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			a.Say(e.Delta.Text)
		case "thinking_delta":
			a.Think(e.Delta.Thinking)
		default:
			a.Alive()
		}
	case "message_delta":
		d.count(a, e.Usage)
		finish(a, e.Delta.StopReason)
		a.Alive()
	case "message_stop":
		if !a.Ended {
			finish(a, "end_turn")
		}
		return true, nil
	case "error":
		return false, &wire.SaidError{Words: wire.ReadWords(data)}
	default:
		a.Alive()
	}
	return false, nil
}

// Whole implements [wire.Decoder].
func (d *decoder) Whole(a *wire.Answer, body []byte) error {
	var m message
	if err := wire.Decode(body, &m); err != nil {
		return err
	}
	if m.Type != "message" {
		return &wire.SaidError{Words: wire.ReadWords(body)}
	}
	a.Name(m.Model)
	d.count(a, m.Usage)
	for _, b := range m.Content {
		d.begin(a, b)
	}
	finish(a, cmp.Or(m.StopReason, "end_turn"))
	return nil
}

// begin takes the beginning of a block, which is all of it in a whole answer.
// Text that is cited comes as several blocks in a row; only what is between them,
// such as a search, makes a new paragraph.
func (d *decoder) begin(a *wire.Answer, b block) {
	if b.Type == "text" {
		a.Say(b.Text)
		return
	}
	a.Break()
	a.Think(b.Thinking)
}

func (d *decoder) count(a *wire.Answer, u usage) {
	d.usage.Input = cmp.Or(u.Input, d.usage.Input)
	d.usage.CacheRead = cmp.Or(u.CacheRead, d.usage.CacheRead)
	d.usage.CacheWrite = cmp.Or(u.CacheWrite, d.usage.CacheWrite)
	d.usage.Output = cmp.Or(u.Output, d.usage.Output)
	d.usage.Details.Thinking = cmp.Or(u.Details.Thinking, d.usage.Details.Thinking)
	read, written, output := number(d.usage.CacheRead), number(d.usage.CacheWrite), number(d.usage.Output)
	a.Reply.Usage = parley.Usage{
		InputTokens:        number(d.usage.Input) + read + written,
		CachedInputTokens:  read,
		CacheCreationInput: written,
		OutputTokens:       output,
		ReasoningTokens:    min(number(d.usage.Details.Thinking), output),
	}
}

func number(c *wire.Count) int {
	if c == nil {
		return 0
	}
	return int(*c)
}

func finish(a *wire.Answer, reason string) {
	if reason == "" {
		return
	}
	a.Ended = true
	switch reason {
	case "end_turn", "stop_sequence":
		a.Reply.FinishReason = wire.FinishStop
	case "max_tokens":
		a.Reply.FinishReason = wire.FinishLength
	case "refusal":
		a.Reply.FinishReason = wire.FinishFilter
	default:
		a.Reply.FinishReason = cmp.Or(wire.Plain(reason, 60), "unknown")
	}
}
