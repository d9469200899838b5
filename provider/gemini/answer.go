package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"

	"google.golang.org/genai"

	"parley"
	"parley/provider/wire"
)

type decoder struct{}

// response is a piece of an answer, or all of it. It is not the SDK's, which
// reads far more than is needed here.
type response struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []struct {
				Text    string `json:"text"`
				Thought bool   `json:"thought"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

// usage counts thoughts apart from the output, and what searches found apart
// from the prompt.
type usage struct {
	Prompt     wire.Count `json:"promptTokenCount"`
	ToolUse    wire.Count `json:"toolUsePromptTokenCount"`
	Cached     wire.Count `json:"cachedContentTokenCount"`
	Candidates wire.Count `json:"candidatesTokenCount"`
	Thoughts   wire.Count `json:"thoughtsTokenCount"`
}

func (u usage) usage() parley.Usage {
	input := u.Prompt + u.ToolUse
	return parley.Usage{
		InputTokens:       int(input),
		CachedInputTokens: int(min(u.Cached, input)),
		OutputTokens:      int(u.Candidates + u.Thoughts),
		ReasoningTokens:   int(u.Thoughts),
	}
}

// Event implements [wire.Decoder]. No event says that it is the last.
func (decoder) Event(a *wire.Answer, _ string, data []byte) (done bool, err error) {
	return false, take(a, data)
}

// Whole implements [wire.Decoder]. Without alt=sse, which a gateway may drop, a
// stream is a list.
func (decoder) Whole(a *wire.Answer, body []byte) error {
	pieces := []json.RawMessage{body}
	if bytes.HasPrefix(body, []byte("[")) {
		if err := wire.Decode(body, &pieces); err != nil {
			return err
		}
	}
	for _, piece := range pieces {
		if err := take(a, piece); err != nil {
			return err
		}
	}
	a.Reply.FinishReason = cmp.Or(a.Reply.FinishReason, wire.FinishStop)
	return nil
}

func take(a *wire.Answer, data []byte) error {
	var r response
	if err := wire.Decode(data, &r); err != nil {
		return err
	}
	if len(r.Error) > 0 && !bytes.Equal(r.Error, []byte("null")) {
		return &wire.SaidError{Words: wire.ReadWords(data)}
	}
	a.Name(r.Model)
	if r.Usage != nil {
		a.Reply.Usage = r.Usage.usage()
	}
	if reason := r.PromptFeedback.BlockReason; reason != "" {
		return &wire.SaidError{Words: wire.Words{
			Type: "content_filter", Message: cmp.Or(r.PromptFeedback.BlockReasonMessage, reason),
		}}
	}
	spoke := false
	for _, c := range r.Candidates {
		if c.Index != 0 {
			continue
		}
		for _, part := range c.Content.Parts {
			spoke = true
			if part.Thought {
				a.Think(part.Text)
			} else {
				a.Say(part.Text)
			}
		}
		if c.FinishReason != "" {
			a.Ended = true
			a.Reply.FinishReason = finishReason(c.FinishReason)
		}
	}
	if !spoke {
		a.Alive()
	}
	return nil
}

func finishReason(reason string) string {
	switch genai.FinishReason(reason) {
	case genai.FinishReasonStop:
		return wire.FinishStop
	case genai.FinishReasonMaxTokens:
		return wire.FinishLength
	case genai.FinishReasonSafety, genai.FinishReasonProhibitedContent, genai.FinishReasonBlocklist,
		genai.FinishReasonSPII, genai.FinishReasonRecitation:
		return wire.FinishFilter
	default:
		return cmp.Or(wire.Plain(reason, 60), "unknown")
	}
}
