package fakeai

import "fmt"

// chatParts are the kinds of content part each role may use.
var chatParts = map[string]map[string]bool{
	"system":    set("text"),
	"developer": set("text"),
	"user":      set("text image_url input_audio file"),
	"assistant": set("text refusal"),
	"tool":      set("text"),
}

func readChat(r *Request) *fault {
	if bad := readOpenAI(r); bad != nil {
		return bad
	}
	if has(r.JSON, "max_tokens") && has(r.JSON, "max_completion_tokens") {
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.").
			at("max_tokens", "invalid_parameter_combination")
	}
	for _, param := range []string{"max_tokens", "max_completion_tokens"} {
		if has(r.JSON, param) && !atLeast(r.JSON[param], 1) {
			return invalid("Invalid '%s': integer below minimum value. Expected a value >= 1, but got %v instead.",
				param, r.JSON[param]).at(param, "integer_below_min_value")
		}
	}
	messages, ok := r.JSON["messages"].([]any)
	switch {
	case !has(r.JSON, "messages"):
		return missing("messages")
	case !ok:
		return badType("messages", "an array of objects")
	case len(messages) == 0:
		return emptyArray("messages")
	}
	for i, v := range messages {
		if bad := readChatMessage(r, fmt.Sprintf("messages[%d]", i), v); bad != nil {
			return bad
		}
	}
	return nil
}

func readChatMessage(r *Request, param string, v any) *fault {
	message, ok := v.(object)
	if !ok {
		return badType(param, "an object")
	}
	m := Message{Role: word(message, "role")}
	if chatParts[m.Role] == nil {
		return badValue(param+".role", m.Role, "'system', 'assistant', 'user', 'developer', and 'tool'")
	}
	if m.Role == "tool" && word(message, "tool_call_id") == "" {
		return missing(param + ".tool_call_id")
	}
	switch content := message["content"].(type) {
	case string:
		m.Text = content
	case []any:
		if len(content) == 0 {
			return emptyArray(param + ".content")
		}
		for i, part := range content {
			if bad := m.addChatPart(fmt.Sprintf("%s.content[%d]", param, i), part); bad != nil {
				return bad
			}
		}
	case nil:
		if m.Role != "assistant" || !has(message, "tool_calls") {
			return invalid("Invalid value for 'content': expected a string, got null.").at(param+".content", "")
		}
	default:
		return badType(param+".content", "one of a string or array of objects")
	}
	r.addOpenAI(m)
	return nil
}

func (m *Message) addChatPart(param string, v any) *fault {
	part, ok := v.(object)
	if !ok {
		return badType(param, "an object")
	}
	kind := word(part, "type")
	if !chatParts[m.Role][kind] {
		return badValue(param+".type", kind, "those of the role '"+m.Role+"'")
	}
	// Every kind of part carries its content under its own name.
	if !has(part, kind) {
		return missing(param + "." + kind)
	}
	switch kind {
	case "text", "refusal":
		text, ok := part[kind].(string)
		if !ok {
			return badType(param+"."+kind, "a string")
		}
		m.add(text)
	case "image_url":
		if image, _ := part[kind].(object); word(image, "url") == "" {
			return missing(param + ".image_url.url")
		}
		m.Images++
	}
	return nil
}

// wantsUsage tells whether a stream should end with a usage chunk.
func wantsUsage(r *Request) bool {
	options, _ := r.JSON["stream_options"].(object)
	want, _ := options["include_usage"].(bool)
	return want
}
