package mcpserver

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// frame is what the status line, the notes and the last line may need beside
// the answer itself.
const frame = 600

// cut shortens the content to what the client takes, beginning at the
// character offset, and says how to read on.
func (a *answer) cut(limit, from int) {
	total := utf8.RuneCountInString(a.Content)
	from = min(from, total)
	if from > 0 {
		a.Content = string([]rune(a.Content)[from:])
	}
	piece, whole := sentence(a.Content, max(limit-frame, frame))
	if from > 0 || !whole {
		a.Turns = nil // they are the content once more, uncut
	}
	if whole {
		return
	}
	shown := utf8.RuneCountInString(piece)
	note := fmt.Sprintf("Cut here: %d of %d characters shown.", shown, total)
	a.Truncated = &truncated{Shown: shown, Total: total}
	if a.more != "" {
		a.Truncated.Next = fmt.Sprintf("%s:%d", a.more, from+shown)
		note += " Read on with check_status, continuation_id: " + a.Truncated.Next + a.moreArgs
	}
	a.Content = piece
	a.foot = strings.TrimSpace("[" + note + "]\n\n" + a.foot)
}

// sentence returns at most limit characters of text, ending at the end of a
// paragraph, a line or a sentence if there is one in the last third.
func sentence(text string, limit int) (piece string, whole bool) {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text, true
	}
	runes := []rune(text)[:limit]
	piece = string(runes)
	floor := len(piece) * 2 / 3
	for _, end := range []string{"\n\n", ".\n", ". ", "! ", "? ", "。", "\n", " "} {
		if at := strings.LastIndex(piece, end); at >= floor {
			return piece[:at+len(end)], false
		}
	}
	return piece, false
}
