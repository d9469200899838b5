package fakeai

import (
	"fmt"
	"strings"
)

var (
	anthropicKnown = set(`cache_control compaction container context_management diagnostics
		fallback_credit_token fallbacks inference_geo max_tokens mcp_servers messages metadata model
		output_config output_format service_tier speed stop_sequences stream system temperature
		thinking tool_choice tools top_k top_p`)
	anthropicBlocks = set(`text image document thinking redacted_thinking tool_use tool_result
		search_result server_tool_use web_search_tool_result`)
)

const anthropicMaxCacheMarks = 4

func readAnthropic(r *Request) *fault {
	if !r.decode() {
		return invalid("The request body is not valid JSON.")
	}
	r.Model = word(r.JSON, "model")
	r.Stream, _ = r.JSON["stream"].(bool)
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return invalid("anthropic-version: header is required")
	case r.Model == "":
		return invalid("model: Field required")
	case !has(r.JSON, "max_tokens"):
		return invalid("max_tokens: Field required")
	case !atLeast(r.JSON["max_tokens"], 1):
		return invalid("max_tokens: Input should be greater than or equal to 1")
	case !between(r.JSON, "temperature", 0, 1):
		return invalid("temperature: range: 0..1")
	}
	if key, found := stranger(r.JSON, anthropicKnown); found {
		return invalid("%s: Extra inputs are not permitted", key)
	}
	if bad := readAnthropicThinking(r.JSON); bad != nil {
		return bad
	}
	if n := cacheMarks(r.JSON); n > anthropicMaxCacheMarks {
		return invalid("A maximum of %d blocks with cache_control may be provided. Found %d.", anthropicMaxCacheMarks, n)
	}
	if has(r.JSON, "system") {
		var system Message
		if bad := system.addAnthropic("system", r.JSON["system"]); bad != nil {
			return bad
		}
		r.System = system.Text
	}
	return readAnthropicMessages(r)
}

func readAnthropicThinking(body object) *fault {
	thinking, _ := body["thinking"].(object)
	if word(thinking, "type") != "enabled" {
		return nil
	}
	budget, _ := thinking["budget_tokens"].(float64)
	limit, _ := body["max_tokens"].(float64)
	switch {
	case budget < 1024:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case budget >= limit:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
	case has(body, "temperature") && body["temperature"] != 1.0:
		return invalid("`temperature` may only be set to 1 when thinking is enabled.")
	}
	return nil
}

func readAnthropicMessages(r *Request) *fault {
	messages, ok := r.JSON["messages"].([]any)
	switch {
	case !has(r.JSON, "messages"):
		return invalid("messages: Field required")
	case !ok:
		return invalid("messages: Input should be a valid list")
	case len(messages) == 0:
		return invalid("messages: at least one message is required")
	}
	for i, v := range messages {
		message, _ := v.(object)
		m := Message{Role: word(message, "role")}
		switch {
		case m.Role == "system":
			return invalid("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, " +
				"not \"system\" as an input message role.")
		case m.Role != "user" && m.Role != "assistant":
			return invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return invalid("messages: first message must use the \"user\" role")
		}
		if bad := m.addAnthropic(fmt.Sprintf("messages.%d.content", i), message["content"]); bad != nil {
			return bad
		}
		r.Messages = append(r.Messages, m)
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "assistant" && strings.TrimRight(last.Text, " \t\r\n") != last.Text {
		return invalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// addAnthropic reads a string or a list of blocks, of messages and of system.
func (m *Message) addAnthropic(where string, content any) *fault {
	switch content := content.(type) {
	case string:
		if content == "" && m.Role != "" {
			return invalid("%s: messages must have non-empty content", where)
		}
		m.Text = content
		return nil
	case []any:
		if len(content) == 0 && m.Role != "" {
			return invalid("%s: messages must have non-empty content", where)
		}
		for i, v := range content {
			if bad := m.addAnthropicBlock(fmt.Sprintf("%s.%d", where, i), v); bad != nil {
				return bad
			}
		}
		return nil
	case nil:
		return invalid("%s: Field required", where)
	}
	return invalid("%s: Input should be a valid string or list", where)
}

func (m *Message) addAnthropicBlock(where string, v any) *fault {
	block, _ := v.(object)
	kind := word(block, "type")
	switch {
	case !anthropicBlocks[kind], m.Role == "" && kind != "text":
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags", where, kind)
	case kind == "text" && word(block, "text") == "":
		return invalid("%s: text content blocks must be non-empty", where)
	case (kind == "image" || kind == "document") && !has(block, "source"):
		return invalid("%s.%s.source: Field required", where, kind)
	}
	switch kind {
	case "text":
		m.add(word(block, "text"))
	case "image":
		m.Images++
	}
	return nil
}

// cacheMarks counts the blocks that ask to be cached, wherever they are.
func cacheMarks(v any) int {
	n := 0
	switch v := v.(type) {
	case object:
		if has(v, "cache_control") {
			n++
		}
		for _, inner := range v {
			n += cacheMarks(inner)
		}
	case []any:
		for _, inner := range v {
			n += cacheMarks(inner)
		}
	}
	return n
}
