package openai

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"parley"
)

// minOutput is the least that Responses takes for max_output_tokens.
const minOutput = 16

func (p *Provider) responseParams(call parley.Call) responses.ResponseNewParams {
	params := responses.ResponseNewParams{
		Model: call.Model.Name,
		Store: param.NewOpt(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responseInput(call.Messages)},
	}
	if call.System != "" {
		params.Instructions = param.NewOpt(call.System)
	}
	if call.MaxOutput > 0 {
		params.MaxOutputTokens = param.NewOpt(int64(max(call.MaxOutput, minOutput)))
	}
	if call.Options.Effort != "" && call.Model.Reasons() {
		params.Reasoning.Effort = shared.ReasoningEffort(call.Options.Effort)
	}
	if call.Options.Verbosity != "" {
		params.Text.Verbosity = responses.ResponseTextConfigVerbosity(call.Options.Verbosity)
	}
	if call.Options.Temperature != nil {
		params.Temperature = param.NewOpt(*call.Options.Temperature)
	}
	if call.Options.WebSearch {
		params.Tools = []responses.ToolUnionParam{
			responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch),
		}
	}
	if call.CacheKey != "" && p.id == ID {
		params.PromptCacheKey = param.NewOpt(call.CacheKey)
	}
	return params
}

// responseInput renders what the user said part by part, so that a part keeps
// its bytes whatever comes after it, and an assistant's message as a string.
func responseInput(messages []parley.Message) responses.ResponseInputParam {
	input := make(responses.ResponseInputParam, 0, len(messages))
	for _, m := range messages {
		if m.Role == parley.RoleAssistant {
			input = append(input, responses.ResponseInputItemParamOfMessage(joined(m), responses.EasyInputMessageRoleAssistant))
			continue
		}
		parts := make(responses.ResponseInputMessageContentListParam, len(m.Parts))
		for i, part := range m.Parts {
			if part.Image != nil {
				parts[i] = responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
					Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(part.Image)),
				}}
				continue
			}
			parts[i] = responses.ResponseInputContentParamOfInputText(part.Text)
		}
		input = append(input, responses.ResponseInputItemParamOfMessage(parts, responses.EasyInputMessageRoleUser))
	}
	return input
}

func (p *Provider) chatParams(call parley.Call) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Model:         call.Model.Name,
		Messages:      chatMessages(call),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if call.MaxOutput > 0 {
		if p.id == ID {
			params.MaxCompletionTokens = param.NewOpt(int64(call.MaxOutput))
		} else {
			params.MaxTokens = param.NewOpt(int64(call.MaxOutput))
		}
	}
	if call.Options.Effort != "" {
		params.ReasoningEffort = shared.ReasoningEffort(call.Options.Effort)
	}
	if call.Options.Verbosity != "" {
		params.Verbosity = openai.ChatCompletionNewParamsVerbosity(call.Options.Verbosity)
	}
	if call.Options.Temperature != nil {
		params.Temperature = param.NewOpt(*call.Options.Temperature)
	}
	if call.CacheKey != "" && p.id == ID {
		params.PromptCacheKey = param.NewOpt(call.CacheKey)
	}
	// OpenAI keeps chats unless told not to; gateways need not know the field.
	if strings.HasSuffix(p.endpoint.Base.Hostname(), ".openai.com") {
		params.Store = param.NewOpt(false)
	}
	return params
}

// dataURL is an image as both wires take it.
func dataURL(image *parley.Image) string {
	return "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
}

// chatMessages renders every message as one string, because old local servers
// take nothing else, unless there is an image in it.
func chatMessages(call parley.Call) []openai.ChatCompletionMessageParamUnion {
	list := make([]openai.ChatCompletionMessageParamUnion, 0, len(call.Messages)+1)
	if call.System != "" {
		list = append(list, openai.SystemMessage(call.System))
	}
	for _, m := range call.Messages {
		switch {
		case m.Role == parley.RoleAssistant:
			list = append(list, openai.AssistantMessage(joined(m)))
		case slices.ContainsFunc(m.Parts, func(p parley.Part) bool { return p.Image != nil }):
			list = append(list, openai.UserMessage(chatParts(m)))
		default:
			list = append(list, openai.UserMessage(joined(m)))
		}
	}
	return list
}

func chatParts(m parley.Message) []openai.ChatCompletionContentPartUnionParam {
	parts := make([]openai.ChatCompletionContentPartUnionParam, len(m.Parts))
	for i, part := range m.Parts {
		if part.Image != nil {
			parts[i] = openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(part.Image)})
		} else {
			parts[i] = openai.TextContentPart(part.Text)
		}
	}
	return parts
}

func joined(m parley.Message) string {
	if len(m.Parts) == 1 {
		return m.Parts[0].Text
	}
	texts := make([]string, len(m.Parts))
	for i, part := range m.Parts {
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n\n")
}
