package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// The vendor caches nothing shorter, in tokens.
const (
	minCached      = 1024
	minCachedHaiku = 2048
)

const (
	bytesPerToken = 4
	// imageTokens is what an image of usual size costs.
	imageTokens = 1000
)

// markCache asks to cache up to the system prompt, up to the last user message,
// for the next turn to find, and up to the one before it, where the last turn left
// its mark. An hour, because people think longer than five minutes.
func markCache(params *sdk.MessageNewParams) {
	least := minCached
	if strings.Contains(params.Model, "haiku") {
		least = minCachedHaiku
	}
	mark := sdk.CacheControlEphemeralParam{TTL: sdk.CacheControlEphemeralTTLTTL1h}

	tokens := 0
	for i := range params.System {
		tokens += len(params.System[i].Text) / bytesPerToken
		if i == len(params.System)-1 && tokens >= least {
			params.System[i].CacheControl = mark
		}
	}
	var last, before *sdk.CacheControlEphemeralParam
	for _, m := range params.Messages {
		for _, block := range m.Content {
			tokens += blockTokens(block)
		}
		if m.Role == sdk.MessageParamRoleUser && tokens >= least {
			before, last = last, m.Content[len(m.Content)-1].GetCacheControl()
		}
	}
	for _, place := range []*sdk.CacheControlEphemeralParam{before, last} {
		if place != nil {
			*place = mark
		}
	}
}

func blockTokens(block sdk.ContentBlockParamUnion) int {
	if block.OfText != nil {
		return len(block.OfText.Text) / bytesPerToken
	}
	return imageTokens
}
