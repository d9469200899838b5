package fakeai

import "strconv"

type anthropicMessage struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        *anthropicUsage  `json:"usage,omitempty"`
}

// anthropicBlock is text, or thinking with a signature.
type anthropicBlock struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
}

type anthropicUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

const anthropicSignature = "ZmFrZWFp"

// newAnthropicUsage counts cached input apart, as Anthropic does.
func newAnthropicUsage(u *Usage) *anthropicUsage {
	if u == nil {
		return nil
	}
	return &anthropicUsage{
		Input:      max(0, u.Input-u.CachedInput-u.CacheWrite),
		CacheWrite: u.CacheWrite,
		CacheRead:  u.CachedInput,
		Output:     u.Output,
	}
}

func (a *answer) anthropicStop() string {
	if a.finish == FinishStop {
		return "end_turn"
	}
	return a.word("max_tokens", "refusal")
}

func (a *answer) anthropicBegun() anthropicMessage {
	return anthropicMessage{
		ID: a.id("msg_"), Type: "message", Role: "assistant", Model: a.req.Model,
		Content: []anthropicBlock{}, Usage: newAnthropicUsage(a.usage),
	}
}

func thinkingBlock(text, signature string) anthropicBlock {
	return anthropicBlock{Type: "thinking", Thinking: &text, Signature: &signature}
}

func wholeAnthropic(a *answer) []byte {
	m := a.anthropicBegun()
	if a.reasoning != "" {
		m.Content = append(m.Content, thinkingBlock(a.reasoning, anthropicSignature))
	}
	if a.text != "" {
		m.Content = append(m.Content, anthropicBlock{Type: "text", Text: &a.text})
	}
	m.StopReason = orNull(a.anthropicStop())
	return mustJSON(m)
}

// anthropicStream is the event stream of the Messages wire: a thinking block if
// there is any, then one text block.
type anthropicStream struct {
	sse
	a      *answer
	index  int
	kind   string // of the open block; empty when none is
	before string
}

func streamAnthropic(a *answer) encoder {
	return &anthropicStream{sse: sse{a.comments}, a: a}
}

func (s *anthropicStream) open(b []byte) []byte {
	m := s.a.anthropicBegun()
	if m.Usage != nil {
		// Little has been said by now; the true count comes with the end.
		m.Usage.Output = min(1, m.Usage.Output)
	}
	return s.send(b, "message_start", mustJSON(struct {
		Type    string           `json:"type"`
		Message anthropicMessage `json:"message"`
	}{"message_start", m}))
}

func (s *anthropicStream) reasoning(b []byte, delta string) []byte {
	if s.kind == "" {
		b = s.startBlock(b, thinkingBlock("", ""), `{"type":"thinking_delta","thinking":`)
	}
	return s.delta(b, "content_block_delta", s.before, delta, "}}")
}

func (s *anthropicStream) text(b []byte, delta string) []byte {
	if s.kind != "text" {
		b = s.stopBlock(b)
		empty := ""
		b = s.startBlock(b, anthropicBlock{Type: "text", Text: &empty}, `{"type":"text_delta","text":`)
	}
	return s.delta(b, "content_block_delta", s.before, delta, "}}")
}

func (s *anthropicStream) startBlock(b []byte, block anthropicBlock, delta string) []byte {
	s.kind = block.Type
	s.before = `{"type":"content_block_delta","index":` + strconv.Itoa(s.index) + `,"delta":` + delta
	b = s.send(b, "content_block_start", mustJSON(struct {
		Type  string         `json:"type"`
		Index int            `json:"index"`
		Block anthropicBlock `json:"content_block"`
	}{"content_block_start", s.index, block}))
	if s.index == 0 {
		b = s.send(b, "ping", []byte(`{"type": "ping"}`))
	}
	return b
}

func (s *anthropicStream) stopBlock(b []byte) []byte {
	if s.kind == "" {
		return b
	}
	if s.kind == "thinking" {
		before := `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":`
		b = s.delta(b, "content_block_delta", before, anthropicSignature, "}}")
	}
	b = s.send(b, "content_block_stop", []byte(`{"type":"content_block_stop","index":`+strconv.Itoa(s.index)+`}`))
	s.index++
	s.kind = ""
	return b
}

func (s *anthropicStream) end(b []byte) []byte {
	b = s.stopBlock(b)
	type delta struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	b = s.send(b, "message_delta", mustJSON(struct {
		Type  string          `json:"type"`
		Delta delta           `json:"delta"`
		Usage *anthropicUsage `json:"usage,omitempty"`
	}{"message_delta", delta{StopReason: s.a.anthropicStop()}, newAnthropicUsage(s.a.usage)}))
	return s.send(b, "message_stop", []byte(`{"type":"message_stop"}`))
}

func (s *anthropicStream) fail(b []byte, f fault) []byte {
	return s.send(b, "error", anthropicFault(f))
}
