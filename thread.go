package parley

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Thread is an append-only sequence of turns. It is not owned by the tool, the
// model or the client that began it.
type Thread struct {
	ID string
	// Title is the first question in one line, for lists.
	Title string
	// Principal is the wall: nobody else may read or continue the thread.
	Principal string
	// Project is a filter: the git top of the directory it was begun in.
	Project string
	// Tool is the tool that began the thread.
	Tool      string
	CreatedAt time.Time
	UpdatedAt time.Time
	// Turns counts the answered turns.
	Turns int
	// Tokens is the sum of [Turn.Tokens] over all turns.
	Tokens int64
	// LastModel answered the newest turn; zero if none was answered by a model.
	LastModel ModelRef
}

// Messages is the number of messages in the thread: each turn is a question
// and its answers.
func (t Thread) Messages() int { return 2 * t.Turns }

// Turn is one question with its answer, numbered from 1 as it is committed.
// It never changes afterwards.
type Turn struct {
	ThreadID string
	Number   int
	RunID    string
	Tool     string
	Question string
	// QuestionTokens is counted once, when the turn is written.
	QuestionTokens int
	// Stamp is the date that was put in front of the question; empty if none was.
	Stamp string
	// Answers has one entry for a chat, one per member for a panel.
	Answers []Answer
	AskedAt time.Time
	// EndedAt is when the turn was committed.
	EndedAt time.Time
	// TokensThrough is the sum of Tokens over this turn and all before it. It
	// lets a briefing find its first turn without reading the ones it leaves out.
	TokensThrough int64
}

// Answer is what one model said on a turn.
type Answer struct {
	Model  ModelRef `json:"model"`
	Text   string   `json:"text"`
	Tokens int      `json:"tokens"`
}

// turnOverhead is what the labels and message frames of one question or answer
// cost, generously.
const turnOverhead = 32

// Tokens is what the turn costs in a briefing, labels included.
func (t Turn) Tokens() int64 {
	sum := int64(t.QuestionTokens) + turnOverhead
	for _, a := range t.Answers {
		sum += int64(a.Tokens) + turnOverhead
	}
	return sum
}

// Span is a range of turn numbers, both ends included. A Span that begins after
// its end is empty, and still says how many turns there were.
type Span struct {
	From    int `json:"from"`
	Through int `json:"through"`
}

// Len is the number of turns in the span.
func (s Span) Len() int {
	if s.From == 0 || s.Through < s.From {
		return 0
	}
	return s.Through - s.From + 1
}

// titleLength is what fits beside an id and a time in a list.
const titleLength = 60

// TitleOf shortens a question to one line for lists.
func TitleOf(question string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(question[:min(len(question), 8*titleLength)], "")), " ")
	if utf8.RuneCountInString(line) <= titleLength {
		return line
	}
	runes := []rune(line)[:titleLength-1]
	if cut := strings.LastIndexByte(string(runes), ' '); cut > titleLength/2 {
		return string(runes)[:cut] + "…"
	}
	return string(runes) + "…"
}
