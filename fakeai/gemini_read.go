package fakeai

import "strings"

var (
	geminiKnown = set(`contents systemInstruction system_instruction generationConfig generation_config
		safetySettings safety_settings tools toolConfig tool_config cachedContent cached_content
		model labels serviceTier service_tier store`)
	// geminiData are the fields of a part of which one must be there.
	geminiData = []string{
		"text", "inlineData", "inline_data", "fileData", "file_data", "functionCall", "function_call",
		"functionResponse", "function_response", "executableCode", "codeExecutionResult",
	}
)

// geminiTarget takes the model and the method from a path like
// /v1beta/models/gemini-3-pro:generateContent. The method is empty for others.
func geminiTarget(path string) (model, method string) {
	_, rest, ok := strings.Cut(path, "/models/")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return "", ""
	}
	model, method = rest[:i], rest[i+1:]
	if method != "generateContent" && method != "streamGenerateContent" {
		return "", ""
	}
	return model, method
}

// either is the value under the camel-case or the snake-case name; Google takes
// both.
func either(o object, camel, snake string) any {
	if has(o, camel) {
		return o[camel]
	}
	return o[snake]
}

func readGemini(r *Request) *fault {
	model, method := geminiTarget(r.Path)
	r.Model, r.Stream = model, method == "streamGenerateContent"
	switch {
	case model == "":
		return invalid("* GenerateContentRequest.model: unexpected model name format\n")
	case !r.decode():
		return invalid("Invalid JSON payload received. Unexpected token.")
	}
	if key, found := stranger(r.JSON, geminiKnown); found {
		return invalid("Invalid JSON payload received. Unknown name %q: Cannot find field.", key)
	}
	config, _ := either(r.JSON, "generationConfig", "generation_config").(object)
	if !between(config, "temperature", 0, 2) {
		return invalid("* GenerateContentRequest.generation_config.temperature: must be in the range [0.0, 2.0]\n")
	}
	if system := either(r.JSON, "systemInstruction", "system_instruction"); system != nil {
		m, bad := readGeminiContent("system_instruction", system)
		if bad != nil {
			return bad
		}
		r.System = m.Text
	}
	contents, _ := r.JSON["contents"].([]any)
	if len(contents) == 0 {
		return invalid("* GenerateContentRequest.contents: contents is not specified\n")
	}
	for _, v := range contents {
		m, bad := readGeminiContent("contents", v)
		if bad != nil {
			return bad
		}
		switch m.Role {
		case "", "user":
			m.Role = "user"
		case "model":
			m.Role = "assistant"
		default:
			return invalid("Please use a valid role: user, model.")
		}
		r.Messages = append(r.Messages, m)
	}
	return nil
}

func readGeminiContent(where string, v any) (Message, *fault) {
	content, ok := v.(object)
	if !ok {
		return Message{}, invalid("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)", where)
	}
	m := Message{Role: word(content, "role")}
	parts, _ := content["parts"].([]any)
	if len(parts) == 0 {
		return m, invalid("* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n", where)
	}
	for _, v := range parts {
		part, _ := v.(object)
		if !hasAny(part, geminiData) {
			return m, invalid("* GenerateContentRequest.%s.parts.data: required oneof field 'data' must have one initialized field\n", where)
		}
		if has(part, "text") {
			text, ok := part["text"].(string)
			if !ok {
				return m, invalid("Invalid value at '%s.parts.text' (TYPE_STRING)", where)
			}
			m.add(text)
		}
		if isGeminiImage(part) {
			m.Images++
		}
	}
	return m, nil
}

func hasAny(o object, keys []string) bool {
	for _, key := range keys {
		if has(o, key) {
			return true
		}
	}
	return false
}

func isGeminiImage(part object) bool {
	data := either(part, "inlineData", "inline_data")
	if data == nil {
		data = either(part, "fileData", "file_data")
	}
	o, _ := data.(object)
	mime, _ := either(o, "mimeType", "mime_type").(string)
	return strings.HasPrefix(mime, "image/")
}
