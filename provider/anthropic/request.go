package anthropic

import (
	"encoding/base64"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"parley"
)

// maxSearches bounds what one question may search: each search is paid for.
const maxSearches = 5

// buildParams renders a call. What had to go is said in notes.
func buildParams(call parley.Call) (params sdk.MessageNewParams, notes []string) {
	params = sdk.MessageNewParams{
		Model:     call.Model.Name,
		MaxTokens: maxTokens(call),
		Messages:  messages(call.Messages),
	}
	if strings.TrimSpace(call.System) != "" {
		params.System = []sdk.TextBlockParam{{Text: call.System}}
	}
	thinks, notes := setEffort(&params, call)
	if t := call.Options.Temperature; t != nil {
		if thinks {
			notes = append(notes, fmt.Sprintf("temperature dropped: %s takes none while it thinks", call.Model.Name))
		} else {
			params.Temperature = param.NewOpt(*t)
		}
	}
	if call.Options.WebSearch {
		// The oldest version: the later ones run code, and not every model can.
		params.Tools = []sdk.ToolUnionParam{{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{
			MaxUses: param.NewOpt(int64(maxSearches)),
		}}}
	}
	markCache(&params)
	return params, notes
}

// maxTokens is required by the vendor.
func maxTokens(call parley.Call) int64 {
	for _, n := range []int{call.MaxOutput, call.Model.MaxOutput} {
		if n > 0 {
			return int64(n)
		}
	}
	return parley.UnknownMaxOutput
}

// messages renders what was said part by part, so that a part keeps its bytes
// whatever comes after it. Blank text is refused by the vendor and left out.
func messages(list []parley.Message) []sdk.MessageParam {
	rendered := make([]sdk.MessageParam, 0, len(list))
	for _, m := range list {
		blocks := make([]sdk.ContentBlockParamUnion, 0, len(m.Parts))
		for _, part := range m.Parts {
			switch {
			case part.Image != nil:
				blocks = append(blocks, sdk.NewImageBlockBase64(part.Image.MIME, base64.StdEncoding.EncodeToString(part.Image.Data)))
			case strings.TrimSpace(part.Text) != "":
				blocks = append(blocks, sdk.NewTextBlock(part.Text))
			}
		}
		switch {
		case len(blocks) == 0:
		case m.Role == parley.RoleAssistant:
			rendered = append(rendered, sdk.NewAssistantMessage(blocks...))
		default:
			rendered = append(rendered, sdk.NewUserMessage(blocks...))
		}
	}
	return rendered
}
