package anthropic

import (
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"parley"
	"parley/provider/wire"
)

// minThinking is the least that the vendor takes for a budget.
const minThinking = 1024

// setEffort says how hard to think, in the way that the model wants to be told.
// A model that thinks takes no temperature.
func setEffort(params *sdk.MessageNewParams, call parley.Call) (thinks bool, notes []string) {
	effort := call.Options.Effort
	switch {
	case effort == "" || !call.Model.Reasons():
	case effort == parley.EffortNone:
		disabled := sdk.NewThinkingConfigDisabledParam()
		params.Thinking.OfDisabled = &disabled
	case call.Model.Thinking == parley.ThinkingByBudget:
		limit := int(params.MaxTokens)
		ceiling := limit
		if call.Model.MaxThinking > 0 {
			ceiling = min(limit, call.Model.MaxThinking)
		}
		tokens, ok := wire.ThinkingBudget(effort, ceiling, limit, minThinking)
		if !ok {
			return false, []string{fmt.Sprintf("reasoning_effort dropped: an output limit of %d tokens leaves no room to think", params.MaxTokens)}
		}
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(tokens))
		return true, nil
	case call.Model.Thinking == parley.ThinkingAdaptive:
		// Newer models keep their thinking to themselves unless asked.
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		params.OutputConfig.Effort = effortWord(effort)
		return true, nil
	default:
		params.OutputConfig.Effort = effortWord(effort)
	}
	return false, nil
}

// effortWord knows that the vendor's weakest word is low.
func effortWord(effort parley.Effort) sdk.OutputConfigEffort {
	if effort == parley.EffortMinimal {
		return sdk.OutputConfigEffortLow
	}
	return sdk.OutputConfigEffort(effort)
}
