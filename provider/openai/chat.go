package openai

import (
	"cmp"
	"encoding/json"

	"parley"
	"parley/provider/wire"
)

// doneMark ends a stream of chunks.
const doneMark = "[DONE]"

type chatDecoder struct{}

// chatChunk is a chunk of a stream, which has deltas, or a whole answer, which
// has messages.
type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int       `json:"index"`
		Delta        chatPiece `json:"delta"`
		Message      chatPiece `json:"message"`
		FinishReason string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatPiece knows the names that different servers have for thinking.
type chatPiece struct {
	Content          content `json:"content"`
	ReasoningContent string  `json:"reasoning_content"`
	Reasoning        string  `json:"reasoning"`
	Refusal          string  `json:"refusal"`
}

type chatUsage struct {
	Prompt        wire.Count `json:"prompt_tokens"`
	PromptDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Completion        wire.Count `json:"completion_tokens"`
	CompletionDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Total wire.Count `json:"total_tokens"`
	// DeepSeek's and Moonshot's names for what was cached.
	CacheHit wire.Count `json:"prompt_cache_hit_tokens"`
	Cached   wire.Count `json:"cached_tokens"`
}

func (u chatUsage) usage() parley.Usage {
	cached := max(u.PromptDetails.Cached, u.CacheHit, u.Cached)
	return tally(u.Prompt, cached, u.Completion, u.CompletionDetails.Reasoning, u.Total)
}

// Event implements [wire.Decoder].
func (chatDecoder) Event(a *wire.Answer, name string, data []byte) (done bool, err error) {
	if string(data) == doneMark {
		if !a.Ended {
			a.Ended = true
			a.Reply.FinishReason = wire.FinishStop
			if a.Said() {
				a.Reply.Notes = append(a.Reply.Notes, "the provider did not say why the answer ended")
			}
		}
		return true, nil
	}
	var c chatChunk
	if err := wire.Decode(data, &c); err != nil {
		return false, err
	}
	if present(c.Error) || name == "error" {
		return false, &wire.SaidError{Words: wire.ReadWords(data)}
	}
	takeChunk(a, c)
	return false, nil
}

// Whole implements [wire.Decoder].
func (chatDecoder) Whole(a *wire.Answer, body []byte) error {
	var c chatChunk
	if err := wire.Decode(body, &c); err != nil {
		return err
	}
	switch {
	case present(c.Error):
		return &wire.SaidError{Words: wire.ReadWords(body)}
	case len(c.Choices) == 0:
		return wire.ErrNothing
	}
	takeChunk(a, c)
	if !a.Ended {
		a.Ended = true
		a.Reply.FinishReason = wire.FinishStop
	}
	return nil
}

func takeChunk(a *wire.Answer, c chatChunk) {
	a.Name(c.Model)
	if c.Usage != nil {
		a.Reply.Usage = c.Usage.usage()
	}
	spoke := false
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, piece := range []chatPiece{choice.Delta, choice.Message} {
			spoke = takePiece(a, piece) || spoke
		}
		if choice.FinishReason != "" {
			a.Ended = true
			finishChat(a, choice.FinishReason)
		}
	}
	if !spoke {
		a.Alive()
	}
}

func takePiece(a *wire.Answer, p chatPiece) (spoke bool) {
	thought := p.ReasoningContent
	if thought == "" { // OpenRouter sends both
		thought = p.Reasoning
	}
	thought += p.Content.thought
	if thought != "" {
		a.Think(thought)
	}
	text := p.Content.text
	if p.Refusal != "" {
		a.Reply.FinishReason = wire.FinishFilter
		text += p.Refusal
	}
	if text != "" {
		a.Say(text)
	}
	return thought != "" || text != ""
}

func finishChat(a *wire.Answer, reason string) {
	switch {
	case reason == "content_filter":
		a.Reply.FinishReason = wire.FinishFilter
	case reason == wire.FinishStop && a.Reply.FinishReason == wire.FinishFilter: // a refusal
	default:
		a.Reply.FinishReason = cmp.Or(wire.Plain(reason, 60), "unknown")
	}
}
