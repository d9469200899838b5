package fakeai

import "cmp"

type responseObject struct {
	ID                 string              `json:"id"`
	Object             string              `json:"object"`
	CreatedAt          int64               `json:"created_at"`
	Status             string              `json:"status"`
	Background         bool                `json:"background"`
	Error              *responseError      `json:"error"`
	IncompleteDetails  *responseIncomplete `json:"incomplete_details"`
	Instructions       any                 `json:"instructions"`
	MaxOutputTokens    any                 `json:"max_output_tokens"`
	Model              string              `json:"model"`
	Output             []responseItem      `json:"output"`
	ParallelToolCalls  bool                `json:"parallel_tool_calls"`
	PreviousResponseID any                 `json:"previous_response_id"`
	Reasoning          any                 `json:"reasoning"`
	Store              any                 `json:"store"`
	Temperature        any                 `json:"temperature"`
	ToolChoice         string              `json:"tool_choice"`
	Tools              []any               `json:"tools"`
	TopP               any                 `json:"top_p"`
	Truncation         string              `json:"truncation"`
	Usage              *responseUsage      `json:"usage"`
	Metadata           struct{}            `json:"metadata"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responseIncomplete struct {
	Reason string `json:"reason"`
}

// responseItem is a message, which has Content, or reasoning, which has Summary.
type responseItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Status  string         `json:"status,omitempty"`
	Role    string         `json:"role,omitempty"`
	Content []responsePart `json:"content,omitzero"`
	Summary []responsePart `json:"summary,omitzero"`
}

type responsePart struct {
	Type        string `json:"type"`
	Annotations []any  `json:"annotations,omitzero"`
	Logprobs    []any  `json:"logprobs,omitzero"`
	Text        string `json:"text"`
}

type responseUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

func outputText(text string) responsePart {
	return responsePart{Type: "output_text", Annotations: []any{}, Logprobs: []any{}, Text: text}
}

func summaryText(text string) responsePart { return responsePart{Type: "summary_text", Text: text} }

// begun is the response before anything has been said.
func (a *answer) begun() *responseObject {
	in := a.req.JSON
	return &responseObject{
		ID: a.id("resp_"), Object: "response", CreatedAt: a.created, Status: "in_progress",
		Instructions: in["instructions"], MaxOutputTokens: in["max_output_tokens"], Model: a.req.Model,
		Output: []responseItem{}, ParallelToolCalls: true, PreviousResponseID: in["previous_response_id"],
		Reasoning: in["reasoning"], Store: in["store"], Temperature: in["temperature"],
		ToolChoice: "auto", Tools: []any{}, TopP: in["top_p"], Truncation: "disabled",
	}
}

// ended is the response as it is in the end.
func (a *answer) ended() *responseObject {
	r := a.begun()
	r.Status = "completed"
	switch a.finish {
	case FinishStop:
	case FinishFailed:
		r.Status = "failed"
		r.Error = &responseError{Code: cmp.Or(a.failure.code, "server_error"), Message: a.failure.text()}
	default:
		r.Status = "incomplete"
		r.IncompleteDetails = &responseIncomplete{Reason: a.word("max_output_tokens", "content_filter")}
	}
	if a.reasoning != "" {
		r.Output = append(r.Output, a.reasoningItem())
	}
	if a.text != "" {
		r.Output = append(r.Output, a.messageItem())
	}
	r.Usage = responsesUsage(a.usage)
	return r
}

func (a *answer) reasoningItem() responseItem {
	return responseItem{ID: a.id("rs_"), Type: "reasoning", Summary: []responsePart{summaryText(a.reasoning)}}
}

func (a *answer) messageItem() responseItem {
	status := "completed"
	if a.finish != FinishStop {
		status = "incomplete"
	}
	return responseItem{
		ID: a.id("msg_"), Type: "message", Status: status, Role: "assistant",
		Content: []responsePart{outputText(a.text)},
	}
}

func responsesUsage(u *Usage) *responseUsage {
	if u == nil {
		return nil
	}
	out := &responseUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
	out.InputDetails.Cached = u.CachedInput
	out.OutputDetails.Reasoning = u.Reasoning
	return out
}

// word is the vendor's word for an ending other than stop, or the script's own.
func (a *answer) word(length, filter string) string {
	switch a.finish {
	case FinishLength:
		return length
	case FinishFilter:
		return filter
	}
	return a.finish
}

func wholeResponse(a *answer) []byte { return mustJSON(a.ended()) }
