package brief

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// Counter counts tokens the way the o200k encoding has them, which is near
// enough for every vendor. It is safe for concurrent use. Its tables are loaded
// when the first text is counted, which takes a moment and some memory.
type Counter struct {
	codec func() (tokenizer.Codec, error)
}

// NewCounter returns a counter that has not loaded anything yet.
func NewCounter() *Counter {
	return &Counter{codec: sync.OnceValues(func() (tokenizer.Codec, error) {
		return tokenizer.Get(tokenizer.O200kBase)
	})}
}

// pieceBytes is how much is counted between two looks at the context.
const pieceBytes = 64 << 10

// Count returns the number of tokens in text. Long texts are counted in pieces,
// which may add a token where two of them meet. It fails only when ctx ends.
func (c *Counter) Count(ctx context.Context, text string) (int, error) {
	if text == "" {
		return 0, ctx.Err()
	}
	codec, err := c.codec()
	if err != nil {
		return 0, fmt.Errorf("loading the token tables: %w", err)
	}
	total := 0
	for text != "" {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("counting tokens: %w", err)
		}
		var piece string
		piece, text = cutPiece(text)
		n, err := codec.Count(piece)
		if err != nil {
			return 0, fmt.Errorf("counting tokens: %w", err)
		}
		total += n
	}
	return total, nil
}

// cutPiece cuts before white space, where tokens end, or else between runes.
func cutPiece(text string) (piece, rest string) {
	if len(text) <= pieceBytes {
		return text, ""
	}
	cut := strings.LastIndexAny(text[:pieceBytes], " \t\r\n")
	if cut <= 0 {
		cut = pieceBytes
		for cut > pieceBytes-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
	}
	return text[:cut], text[cut:]
}

// maxTokenBytes is more than a token of real text has on average.
const maxTokenBytes = 8

// TooLong reports that a text cannot fit into a context window, without
// counting it: a text of one repeated letter takes the tokenizer seconds.
func (c *Counter) TooLong(text string, context int) bool {
	return len(text) > maxTokenBytes*context
}
