package gemini

import (
	"math"
	"strings"

	"google.golang.org/genai"

	"parley"
	"parley/provider/wire"
)

// request is the body of a question. The SDK has types for all its parts, but
// none for the whole.
type request struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
}

func buildRequest(call parley.Call) request {
	r := request{Contents: contents(call.Messages), GenerationConfig: &genai.GenerationConfig{
		MaxOutputTokens: int32(min(max(call.MaxOutput, 0), math.MaxInt32)),
		MediaResolution: mediaResolution(call.Options.MediaResolution),
		ThinkingConfig:  thinking(call),
	}}
	if t := call.Options.Temperature; t != nil {
		r.GenerationConfig.Temperature = new(float32(*t))
	}
	if call.System != "" {
		r.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: call.System}}}
	}
	if call.Options.WebSearch {
		r.Tools = []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}
	}
	return r
}

// contents renders what was said part by part, so that a part keeps its bytes
// whatever comes after it. Parts without anything are refused by the vendor.
func contents(messages []parley.Message) []*genai.Content {
	list := make([]*genai.Content, 0, len(messages))
	for _, m := range messages {
		c := &genai.Content{Role: genai.RoleUser}
		if m.Role == parley.RoleAssistant {
			c.Role = genai.RoleModel
		}
		for _, part := range m.Parts {
			switch {
			case part.Image != nil:
				c.Parts = append(c.Parts, genai.NewPartFromBytes(part.Image.Data, part.Image.MIME))
			case part.Text != "":
				c.Parts = append(c.Parts, genai.NewPartFromText(part.Text))
			}
		}
		if len(c.Parts) > 0 {
			list = append(list, c)
		}
	}
	return list
}

func mediaResolution(word string) genai.MediaResolution {
	if word == "" {
		return ""
	}
	return genai.MediaResolution("MEDIA_RESOLUTION_" + strings.ToUpper(word))
}

// levels are the vendor's words. It has none for no thinking at all.
var levels = map[parley.Effort]genai.ThinkingLevel{
	parley.EffortNone: genai.ThinkingLevelMinimal, parley.EffortMinimal: genai.ThinkingLevelMinimal,
	parley.EffortLow: genai.ThinkingLevelLow, parley.EffortMedium: genai.ThinkingLevelMedium,
	parley.EffortHigh: genai.ThinkingLevelHigh, parley.EffortXHigh: genai.ThinkingLevelHigh,
	parley.EffortMax: genai.ThinkingLevelHigh,
}

// minThinking is no less than the least budget of any model.
const minThinking = 512

// thinking says how hard to think: a budget where the model wants one, a level
// otherwise. The vendor refuses both at once.
func thinking(call parley.Call) *genai.ThinkingConfig {
	effort := call.Options.Effort
	if effort == "" || !call.Model.Reasons() {
		return nil
	}
	if call.Model.Thinking != parley.ThinkingByBudget {
		return &genai.ThinkingConfig{IncludeThoughts: true, ThinkingLevel: levels[effort]}
	}
	if effort == parley.EffortNone {
		return &genai.ThinkingConfig{ThinkingBudget: new(int32(0))}
	}
	config := &genai.ThinkingConfig{IncludeThoughts: true}
	// A model of unknown bounds chooses for itself.
	if ceiling := call.Model.MaxThinking; ceiling > 0 {
		tokens, _ := wire.ThinkingBudget(effort, ceiling, call.MaxOutput, minThinking)
		config.ThinkingBudget = new(int32(min(tokens, ceiling, math.MaxInt32)))
	}
	return config
}
