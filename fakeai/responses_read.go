package fakeai

import "fmt"

var (
	responsesKnown = set(`access_programs background context_management conversation include input
		instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls
		previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention
		reasoning safety_identifier service_tier store stream stream_options temperature text
		tool_choice tools top_logprobs top_p truncation user`)
	responsesRoles = set("user assistant system developer")
	// Items that are no messages are taken and left alone.
	responsesItems = set("reasoning function_call function_call_output item_reference")
)

// readOpenAI reads what both of OpenAI's wires share.
func readOpenAI(r *Request) *fault {
	if !r.decode() {
		return invalid("We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.")
	}
	r.Model = word(r.JSON, "model")
	if r.Model == "" {
		return missing("model")
	}
	stream, ok := r.JSON["stream"].(bool)
	if !ok && has(r.JSON, "stream") {
		return badType("stream", "a boolean")
	}
	r.Stream = stream
	for param, high := range map[string]float64{"temperature": 2, "top_p": 1} {
		if !between(r.JSON, param, 0, high) {
			return invalid("Invalid '%s': decimal out of range. Expected a value between 0 and %v.", param, high).
				at(param, "decimal_above_max_value")
		}
	}
	if has(r.JSON, "stream_options") && !r.Stream {
		return invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.").at("stream_options", "")
	}
	return nil
}

func missing(param string) *fault {
	return invalid("Missing required parameter: '%s'.", param).at(param, "missing_required_parameter")
}

func badType(param, want string) *fault {
	return invalid("Invalid type for '%s': expected %s.", param, want).at(param, "invalid_type")
}

func badValue(param, got, want string) *fault {
	return invalid("Invalid value: '%s'. Supported values are: %s.", got, want).at(param, "invalid_value")
}

func emptyArray(param string) *fault {
	return invalid("Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param).
		at(param, "empty_array")
}

func readResponses(r *Request) *fault {
	if bad := readOpenAI(r); bad != nil {
		return bad
	}
	if key, found := stranger(r.JSON, responsesKnown); found {
		return invalid("Unknown parameter: '%s'.", key).at(key, "unknown_parameter")
	}
	if has(r.JSON, "max_output_tokens") && !atLeast(r.JSON["max_output_tokens"], 16) {
		return invalid("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %v instead.",
			r.JSON["max_output_tokens"]).at("max_output_tokens", "integer_below_min_value")
	}
	switch instructions := r.JSON["instructions"].(type) {
	case nil:
	case string:
		r.addSystem(instructions)
	default:
		return badType("instructions", "a string")
	}
	switch input := r.JSON["input"].(type) {
	case string:
		if input == "" {
			return missing("input")
		}
		r.Messages = []Message{{Role: "user", Text: input}}
		return nil
	case []any:
		if len(input) == 0 {
			return emptyArray("input")
		}
		for i, item := range input {
			if bad := readResponsesItem(r, fmt.Sprintf("input[%d]", i), item); bad != nil {
				return bad
			}
		}
		return nil
	case nil:
		return missing("input")
	}
	return badType("input", "one of a string or array of items")
}

func readResponsesItem(r *Request, param string, v any) *fault {
	item, ok := v.(object)
	if !ok {
		return badType(param, "an object")
	}
	kind := word(item, "type")
	if responsesItems[kind] {
		return nil
	}
	if has(item, "type") && kind != "message" {
		return badValue(param, kind, "'message', 'reasoning', 'function_call', 'function_call_output' and 'item_reference'")
	}
	role := word(item, "role")
	if !responsesRoles[role] {
		return badValue(param, role, "'assistant', 'system', 'developer', and 'user'")
	}
	m := Message{Role: role}
	switch content := item["content"].(type) {
	case string:
		m.Text = content
	case []any:
		if len(content) == 0 {
			return emptyArray(param + ".content")
		}
		for i, part := range content {
			if bad := m.addResponsesPart(fmt.Sprintf("%s.content[%d]", param, i), part); bad != nil {
				return bad
			}
		}
	case nil:
		return missing(param + ".content")
	default:
		return badType(param+".content", "one of an array of objects or string")
	}
	r.addOpenAI(m)
	return nil
}

// addOpenAI puts a message where its role belongs.
func (r *Request) addOpenAI(m Message) {
	switch m.Role {
	case "system", "developer":
		r.addSystem(m.Text)
		return
	case "tool":
		m.Role = "user"
	}
	r.Messages = append(r.Messages, m)
}

func (m *Message) addResponsesPart(param string, v any) *fault {
	part, ok := v.(object)
	if !ok {
		return badType(param, "an object")
	}
	kind := word(part, "type")
	text, isText := part["text"].(string)
	allowed := "'input_text', 'input_image' and 'input_file'"
	if m.Role == "assistant" {
		allowed = "'output_text' and 'refusal'"
	}
	if (m.Role == "assistant") != (kind == "output_text" || kind == "refusal") {
		return badValue(param, kind, allowed)
	}
	switch kind {
	case "refusal":
		m.add(word(part, "refusal"))
	case "input_text", "output_text":
		if !isText {
			return missing(param + ".text")
		}
		m.add(text)
	case "input_image":
		if !has(part, "image_url") && !has(part, "file_id") {
			return missing(param + ".image_url")
		}
		m.Images++
	case "input_file":
		if !has(part, "file_data") && !has(part, "file_id") && !has(part, "file_url") {
			return missing(param + ".file_data")
		}
	default:
		return badValue(param, kind, allowed)
	}
	return nil
}
