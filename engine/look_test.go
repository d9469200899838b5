package engine_test

import (
	"strings"
	"testing"

	"parley/fakeai"
)

// Whoever follows a run gets the whole answer, however late and slowly it reads.
func TestFollowIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("", fakeai.Script{Text: strings.Repeat("word ", 2000), Chunks: 100})
	p := b.start()
	t.Run("Slowly", func(t *testing.T) {
		t.Parallel()
		run, err := p.Start(t.Context(), question("slow?"))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		first := true
		ended, err := p.Follow(t.Context(), run.ID, func(piece string) {
			got.WriteString(piece)
			if first {
				first = false
				p.await(run.ID) // the reader stops until all is over
			}
		})
		if err != nil || got.String() != ended.Result.Content {
			t.Errorf("%d of %d bytes, %v", got.Len(), len(ended.Result.Content), err)
		}
	})
	t.Run("Late", func(t *testing.T) {
		t.Parallel()
		run := p.ask(question("late?"))
		var got strings.Builder
		if _, err := p.Follow(t.Context(), run.ID, func(piece string) { got.WriteString(piece) }); err != nil || got.String() != run.Result.Content {
			t.Errorf("%d of %d bytes, %v", got.Len(), len(run.Result.Content), err)
		}
	})
}
