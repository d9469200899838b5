package fakeai

type geminiResponse struct {
	Candidates []geminiCandidate `json:"candidates"`
	Usage      *geminiUsage      `json:"usageMetadata,omitempty"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content      geminiContent `json:"content"`
	FinishReason string        `json:"finishReason,omitempty"`
	Index        int           `json:"index"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts,omitempty"`
	Role  string       `json:"role"`
}

type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
}

// newGeminiUsage counts thoughts apart, as Google does.
func newGeminiUsage(u *Usage) *geminiUsage {
	if u == nil {
		return nil
	}
	return &geminiUsage{
		Prompt:     u.Input,
		Candidates: max(0, u.Output-u.Reasoning),
		Thoughts:   u.Reasoning,
		Cached:     u.CachedInput,
		Total:      u.Input + u.Output,
	}
}

func (a *answer) geminiFinish() string {
	if a.finish == FinishStop {
		return "STOP"
	}
	return a.word("MAX_TOKENS", "SAFETY")
}

func (a *answer) geminiResponse() geminiResponse {
	return geminiResponse{
		Candidates: []geminiCandidate{{Content: geminiContent{Role: "model"}, FinishReason: a.geminiFinish()}},
		Usage:      newGeminiUsage(a.usage),
		Model:      a.req.Model,
		ID:         a.id(""),
	}
}

func wholeGemini(a *answer) []byte {
	r := a.geminiResponse()
	content := &r.Candidates[0].Content
	if a.reasoning != "" {
		content.Parts = append(content.Parts, geminiPart{Text: a.reasoning, Thought: true})
	}
	if a.text != "" {
		content.Parts = append(content.Parts, geminiPart{Text: a.text})
	}
	return mustJSON(r)
}

// sse tells whether a stream is framed as events: all are but Google's, which
// is one JSON array unless asked otherwise.
func (a *answer) sse() bool {
	return a.req.Wire != WireGemini || a.req.Query.Get("alt") == "sse"
}

// geminiStream is a sequence of partial responses, as events or as the elements
// of an array.
type geminiStream struct {
	sse
	a     *answer
	array bool
	begun bool   // the array has an element
	tail  string // what follows the parts in all responses but the last
}

func streamGemini(a *answer) encoder {
	var usage *geminiUsage
	if u := a.usage; u != nil {
		// Before the end only the prompt has been counted.
		usage = newGeminiUsage(&Usage{Input: u.Input, CachedInput: u.CachedInput})
	}
	rest := string(mustJSON(struct {
		Usage *geminiUsage `json:"usageMetadata,omitempty"`
		Model string       `json:"modelVersion"`
		ID    string       `json:"responseId"`
	}{usage, a.req.Model, a.id("")}))
	return &geminiStream{
		sse: sse{a.comments}, a: a, array: !a.sse(),
		tail: `}],"role":"model"},"index":0}],` + rest[1:],
	}
}

func (s *geminiStream) open(b []byte) []byte {
	if s.array {
		b = append(b, '[')
	}
	return b
}

const geminiHead = `{"candidates":[{"content":{"parts":[{"text":`

func (s *geminiStream) reasoning(b []byte, delta string) []byte {
	return s.piece(b, delta, `,"thought":true`)
}

func (s *geminiStream) text(b []byte, delta string) []byte { return s.piece(b, delta, "") }

func (s *geminiStream) piece(b []byte, delta, mark string) []byte {
	b = s.start(b)
	b = append(b, geminiHead...)
	b = appendQuoted(b, delta)
	b = append(b, mark...)
	b = append(b, s.tail...)
	return s.finish(b)
}

func (s *geminiStream) end(b []byte) []byte {
	b = s.finish(append(s.start(b), mustJSON(s.a.geminiResponse())...))
	if s.array {
		b = append(b, ']')
	}
	return b
}

func (s *geminiStream) fail(b []byte, f fault) []byte {
	b = s.finish(append(s.start(b), googleFault(f)...))
	if s.array {
		b = append(b, ']')
	}
	return b
}

func (s *geminiStream) start(b []byte) []byte {
	if !s.array {
		return s.event(b, "")
	}
	if s.begun {
		b = append(b, ",\r\n"...)
	}
	s.begun = true
	return b
}

func (s *geminiStream) finish(b []byte) []byte {
	if s.array {
		return b
	}
	return append(b, "\r\n\r\n"...)
}
