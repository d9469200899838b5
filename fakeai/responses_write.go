package fakeai

import (
	"cmp"
	"strconv"
)

// responseStream is the event stream of the Responses wire: a reasoning item if
// there is any, then one message item.
type responseStream struct {
	sse
	a        *answer
	seq      int
	index    int // of the open output item
	thinking bool
	talking  bool
	// What comes before the text in every delta of the open item.
	before string
}

func streamResponse(a *answer) encoder {
	return &responseStream{sse: sse{a.comments}, a: a}
}

// responseEvent has the fields of all events but the deltas.
type responseEvent struct {
	Type         string          `json:"type"`
	Sequence     int             `json:"sequence_number"`
	Response     *responseObject `json:"response,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	SummaryIndex *int            `json:"summary_index,omitempty"`
	Item         *responseItem   `json:"item,omitempty"`
	Part         *responsePart   `json:"part,omitempty"`
	Text         *string         `json:"text,omitempty"`
	Logprobs     []any           `json:"logprobs,omitzero"`
}

func (s *responseStream) put(b []byte, e responseEvent) []byte {
	e.Sequence = s.next()
	return s.send(b, e.Type, mustJSON(e))
}

func (s *responseStream) next() int {
	s.seq++
	return s.seq - 1
}

func (s *responseStream) open(b []byte) []byte {
	begun := s.a.begun()
	b = s.put(b, responseEvent{Type: "response.created", Response: begun})
	return s.put(b, responseEvent{Type: "response.in_progress", Response: begun})
}

func (s *responseStream) reasoning(b []byte, delta string) []byte {
	const event = "response.reasoning_summary_text.delta"
	if !s.thinking {
		s.thinking = true
		id, zero := s.a.id("rs_"), 0
		b = s.put(b, responseEvent{
			Type: "response.output_item.added", OutputIndex: &s.index,
			Item: &responseItem{ID: id, Type: "reasoning", Summary: []responsePart{}},
		})
		part := summaryText("")
		b = s.put(b, responseEvent{
			Type: "response.reasoning_summary_part.added", ItemID: id, OutputIndex: &s.index, SummaryIndex: &zero, Part: &part,
		})
		s.before = `{"type":"` + event + `","item_id":"` + id + `","output_index":0,"summary_index":0,"delta":`
	}
	return s.piece(b, event, delta, "")
}

func (s *responseStream) text(b []byte, delta string) []byte {
	const event = "response.output_text.delta"
	if !s.talking {
		b = s.endReasoning(b)
		s.talking = true
		id, zero := s.a.id("msg_"), 0
		b = s.put(b, responseEvent{
			Type: "response.output_item.added", OutputIndex: &s.index,
			Item: &responseItem{ID: id, Type: "message", Status: "in_progress", Role: "assistant", Content: []responsePart{}},
		})
		part := outputText("")
		b = s.put(b, responseEvent{
			Type: "response.content_part.added", ItemID: id, OutputIndex: &s.index, ContentIndex: &zero, Part: &part,
		})
		s.before = `{"type":"` + event + `","item_id":"` + id + `","output_index":` +
			strconv.Itoa(s.index) + `,"content_index":0,"delta":`
	}
	return s.piece(b, event, delta, `,"logprobs":[]`)
}

func (s *responseStream) piece(b []byte, event, delta, after string) []byte {
	b = s.event(b, event)
	b = append(b, s.before...)
	b = appendQuoted(b, delta)
	b = append(b, after...)
	b = append(b, `,"sequence_number":`...)
	b = appendInt(b, s.next())
	b = append(b, '}')
	return append(b, eventEnd...)
}

func (s *responseStream) endReasoning(b []byte) []byte {
	if !s.thinking {
		return b
	}
	item, zero := s.a.reasoningItem(), 0
	b = s.put(b, responseEvent{
		Type: "response.reasoning_summary_text.done", ItemID: item.ID, OutputIndex: &s.index, SummaryIndex: &zero,
		Text: &item.Summary[0].Text,
	})
	b = s.put(b, responseEvent{
		Type: "response.reasoning_summary_part.done", ItemID: item.ID, OutputIndex: &s.index, SummaryIndex: &zero,
		Part: &item.Summary[0],
	})
	b = s.put(b, responseEvent{Type: "response.output_item.done", OutputIndex: &s.index, Item: &item})
	s.thinking = false
	s.index++
	return b
}

func (s *responseStream) endText(b []byte) []byte {
	if !s.talking {
		return b
	}
	item, zero := s.a.messageItem(), 0
	b = s.put(b, responseEvent{
		Type: "response.output_text.done", ItemID: item.ID, OutputIndex: &s.index, ContentIndex: &zero,
		Text: &item.Content[0].Text, Logprobs: []any{},
	})
	b = s.put(b, responseEvent{
		Type: "response.content_part.done", ItemID: item.ID, OutputIndex: &s.index, ContentIndex: &zero,
		Part: &item.Content[0],
	})
	return s.put(b, responseEvent{Type: "response.output_item.done", OutputIndex: &s.index, Item: &item})
}

func (s *responseStream) end(b []byte) []byte {
	b = s.endText(s.endReasoning(b))
	ended := s.a.ended()
	return s.put(b, responseEvent{Type: "response." + ended.Status, Response: ended})
}

func (s *responseStream) fail(b []byte, f fault) []byte {
	data := mustJSON(struct {
		Type     string  `json:"type"`
		Code     string  `json:"code"`
		Message  string  `json:"message"`
		Param    *string `json:"param"`
		Sequence int     `json:"sequence_number"`
	}{"error", cmp.Or(f.code, f.kind, "server_error"), f.text(), nil, s.next()})
	return s.send(b, "error", data)
}
