package fakeai

type chatCompletion struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             *chatUsage   `json:"usage,omitempty"`
	SystemFingerprint *string      `json:"system_fingerprint"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Logprobs     any         `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type chatMessage struct {
	Role      string  `json:"role"`
	Content   string  `json:"content"`
	Reasoning string  `json:"reasoning_content,omitempty"`
	Refusal   *string `json:"refusal"`
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newChatUsage(u *Usage) *chatUsage {
	if u == nil {
		return nil
	}
	out := &chatUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	out.PromptDetails.Cached = u.CachedInput
	out.CompletionDetails.Reasoning = u.Reasoning
	return out
}

func wholeChat(a *answer) []byte {
	return mustJSON(chatCompletion{
		ID: a.id("chatcmpl-"), Object: "chat.completion", Created: a.created, Model: a.req.Model,
		Choices: []chatChoice{{
			Message:      chatMessage{Role: "assistant", Content: a.text, Reasoning: a.reasoning},
			FinishReason: a.word("length", "content_filter"),
		}},
		Usage: newChatUsage(a.usage),
	})
}

// chatStream is the chunk stream of the Chat Completions wire.
type chatStream struct {
	sse
	a *answer
	// Every chunk is head, its choice, tail.
	head, tail string
}

func streamChat(a *answer) encoder {
	head := string(mustJSON(struct {
		ID                string  `json:"id"`
		Object            string  `json:"object"`
		Created           int64   `json:"created"`
		Model             string  `json:"model"`
		SystemFingerprint *string `json:"system_fingerprint"`
	}{a.id("chatcmpl-"), "chat.completion.chunk", a.created, a.req.Model, nil}))
	s := &chatStream{sse: sse{a.comments}, a: a, head: head[:len(head)-1] + `,"choices":[`, tail: "]}"}
	if wantsUsage(a.req) {
		s.tail = `],"usage":null}`
	}
	return s
}

func (s *chatStream) chunk(b []byte, choice, tail string) []byte {
	b = s.event(b, "")
	b = append(b, s.head...)
	b = append(b, choice...)
	b = append(b, tail...)
	return append(b, eventEnd...)
}

const chatDeltaEnd = `},"logprobs":null,"finish_reason":null}`

func (s *chatStream) open(b []byte) []byte {
	const choice = `{"index":0,"delta":{"role":"assistant","content":"","refusal":null` + chatDeltaEnd
	return s.chunk(b, choice, s.tail)
}

func (s *chatStream) reasoning(b []byte, delta string) []byte {
	return s.piece(b, `{"index":0,"delta":{"reasoning_content":`, delta)
}

func (s *chatStream) text(b []byte, delta string) []byte {
	return s.piece(b, `{"index":0,"delta":{"content":`, delta)
}

func (s *chatStream) piece(b []byte, before, delta string) []byte {
	b = s.event(b, "")
	b = append(b, s.head...)
	b = append(b, before...)
	b = appendQuoted(b, delta)
	b = append(b, chatDeltaEnd...)
	b = append(b, s.tail...)
	return append(b, eventEnd...)
}

func (s *chatStream) end(b []byte) []byte {
	finish := appendQuoted(nil, s.a.word("length", "content_filter"))
	b = s.chunk(b, `{"index":0,"delta":{},"logprobs":null,"finish_reason":`+string(finish)+`}`, s.tail)
	if s.a.usage != nil && wantsUsage(s.a.req) {
		b = s.chunk(b, "", `],"usage":`+string(mustJSON(newChatUsage(s.a.usage)))+`}`)
	}
	return s.send(b, "", []byte("[DONE]"))
}

// fail breaks off without [DONE], as the service does.
func (s *chatStream) fail(b []byte, f fault) []byte { return s.send(b, "", openAIFault(f)) }
