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
	Prompt        count `json:"prompt_tokens"`
	PromptDetails struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Completion        count `json:"completion_tokens"`
	CompletionDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Total count `json:"total_tokens"`
	// DeepSeek's and Moonshot's names for what was cached.
	CacheHit count `json:"prompt_cache_hit_tokens"`
	Cached   count `json:"cached_tokens"`
}

func (u chatUsage) usage() parley.Usage {
	cached := max(u.PromptDetails.Cached, u.CacheHit, u.Cached)
	return tally(u.Prompt, cached, u.Completion, u.CompletionDetails.Reasoning, u.Total)
}

func (d chatDecoder) event(a *answer, name string, data []byte) (done bool, err error) {
	if string(data) == doneMark {
		if !a.ended {
			a.ended = true
			a.reply.FinishReason = finishStop
			if a.text.Len() > 0 {
				a.reply.Notes = append(a.reply.Notes, "the provider did not say why the answer ended")
			}
		}
		return true, nil
	}
	var c chatChunk
	if err := decode(data, &c); err != nil {
		return false, err
	}
	if present(c.Error) || name == "error" {
		return false, &saidError{words: wire.ReadWords(data)}
	}
	a.chunk(c)
	return false, nil
}

func (d chatDecoder) whole(a *answer, body []byte) error {
	var c chatChunk
	if err := decode(body, &c); err != nil {
		return err
	}
	switch {
	case present(c.Error):
		return &saidError{words: wire.ReadWords(body)}
	case len(c.Choices) == 0:
		return errNothing
	}
	a.chunk(c)
	if !a.ended {
		a.ended = true
		a.reply.FinishReason = finishStop
	}
	return nil
}

func (a *answer) chunk(c chatChunk) {
	a.name(c.Model)
	if c.Usage != nil {
		a.reply.Usage = c.Usage.usage()
	}
	spoke := false
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, piece := range []chatPiece{choice.Delta, choice.Message} {
			spoke = a.piece(piece) || spoke
		}
		if choice.FinishReason != "" {
			a.ended = true
			a.finish(choice.FinishReason)
		}
	}
	if !spoke {
		a.alive()
	}
}

func (a *answer) piece(p chatPiece) (spoke bool) {
	thought := p.ReasoningContent
	if thought == "" { // OpenRouter sends both
		thought = p.Reasoning
	}
	thought += p.Content.thought
	if thought != "" {
		a.think(thought)
	}
	text := p.Content.text
	if p.Refusal != "" {
		a.reply.FinishReason = finishFilter
		text += p.Refusal
	}
	if text != "" {
		a.say(text)
	}
	return thought != "" || text != ""
}

func (a *answer) finish(reason string) {
	switch {
	case reason == "content_filter":
		a.reply.FinishReason = finishFilter
	case reason == finishStop && a.reply.FinishReason == finishFilter: // a refusal
	default:
		a.reply.FinishReason = cmp.Or(wire.Plain(reason, 60), "unknown")
	}
}
