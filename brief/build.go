package brief

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"parley"
)

//go:embed system.md
var system string

// System is the one system prompt of every thread. It never changes within a
// thread: a tool's own instructions travel in its question.
func System() string { return strings.TrimSpace(system) }

// Question is what is asked now.
type Question struct {
	Text string
	// Stamp is the date to put in front of it; empty for none.
	Stamp string
	// LeftOut is the number of turns that were left out, for the case that all
	// were. Otherwise the first turn's number says it.
	LeftOut int
}

// Build renders turns and a question as reader is to see them. Each turn
// appears once, in order, and roles alternate, beginning and ending with the
// user: consecutive parts of one role become one message.
//
// What the reader itself said is an assistant message. What another model said
// is never passed off as the reader's own: it is a labelled part of the next
// user message. If several models answered one turn, the reader's own answer
// comes first, because it was given before the reader could see the others;
// that keeps a panel's request a prefix of the next one. The others keep their
// order.
//
// Texts are verbatim. A text may look like a label; whose words they are is told
// by role and part, never by text, and nothing here reads labels back.
func Build(reader parley.ModelRef, turns []parley.Turn, q Question) []parley.Message {
	b := builder{messages: make([]parley.Message, 0, 2*len(turns)+1)}
	leftOut := q.LeftOut
	if len(turns) > 0 {
		leftOut = turns[0].Number - 1
	}
	for _, t := range turns {
		b.add(parley.RoleUser, question(leftOut, t.Stamp, t.Question))
		leftOut = 0
		for _, a := range t.Answers {
			if a.Model == reader {
				b.add(parley.RoleAssistant, label(t.Tool, a.Model)+"\n\n"+a.Text)
			}
		}
		for _, a := range t.Answers {
			if a.Model != reader {
				b.add(parley.RoleUser, quote(t.Tool, a))
			}
		}
	}
	b.add(parley.RoleUser, question(leftOut, q.Stamp, q.Text))
	return b.messages
}

type builder struct{ messages []parley.Message }

func (b *builder) add(role parley.Role, text string) {
	part := parley.Part{Text: text}
	if n := len(b.messages); n > 0 && b.messages[n-1].Role == role {
		b.messages[n-1].Parts = append(b.messages[n-1].Parts, part)
		return
	}
	b.messages = append(b.messages, parley.Message{Role: role, Parts: []parley.Part{part}})
}

// question renders a question the same way now and when it has become a turn.
func question(leftOut int, stamp, text string) string {
	var head strings.Builder
	if leftOut == 1 {
		head.WriteString("[the earlier turn 1 of this conversation is left out]\n")
	} else if leftOut > 1 {
		fmt.Fprintf(&head, "[the earlier turns 1–%d of this conversation are left out]\n", leftOut)
	}
	if stamp != "" {
		fmt.Fprintf(&head, "[asked on %s]\n", stamp)
	}
	if text == "" {
		text = "[no text]" // providers refuse empty parts
	}
	if head.Len() == 0 {
		return text
	}
	return head.String() + "\n" + text
}

// quote fences what another model said. The mark is derived from the answer
// itself, so the answer cannot hold it and cannot end its own quote, and the
// same answer is always quoted the same way.
func quote(tool string, a parley.Answer) string {
	hash := sha256.Sum256([]byte(a.Text))
	mark := hex.EncodeToString(hash[:6])
	return fmt.Sprintf("[%s | %s answered, quote %s]\n\n%s\n\n[end of quote %s]", tool, a.Model, mark, a.Text, mark)
}

func label(tool string, m parley.ModelRef) string { return "[" + tool + " | " + m.String() + "]" }

// StripLabel removes the label from the start of an answer whose model put it
// there itself, in imitation of its earlier answers. Other texts are returned
// as they are.
func StripLabel(tool string, m parley.ModelRef, text string) string {
	for {
		rest, found := cutLabel(text, label(tool, m))
		if !found {
			return text
		}
		text = rest
	}
}

func cutLabel(text, label string) (string, bool) {
	start := strings.TrimLeft(text, " \t\r\n")
	if rest, ok := strings.CutPrefix(start, label); ok {
		return strings.TrimLeft(rest, " \t\r\n"), true
	}
	return text, false
}
