package brief_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"parley/brief"
)

func TestCount(t *testing.T) {
	t.Parallel()
	counter := brief.NewCounter()
	long := strings.Repeat("The quick brown fox jumps over the lazy dog; 42 times.\n", 4000)
	for _, tc := range []struct {
		name, text string
		from, to   int
	}{
		{"Nothing", "", 0, 0},
		{"Words", "hello world", 2, 2},
		{"Broken", "\xff\xfe\xfd", 1, 9},
		{"Pieces", long, 4000 * 13, 4000*14 + 8},
		{"OneLetter", strings.Repeat("a", 200_000), 1000, 200_000},
		{"OneRune", strings.Repeat("語", 100_000), 1000, 300_000},
		{"Spaces", strings.Repeat(" ", 200_000), 100, 200_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := counter.Count(t.Context(), tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got < tc.from || got > tc.to {
				t.Errorf("got %d tokens, want %d to %d", got, tc.from, tc.to)
			}
		})
	}
}

func TestCountCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := brief.NewCounter().Count(ctx, "hello"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestCountConcurrently(t *testing.T) {
	t.Parallel()
	counter := brief.NewCounter()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if n, err := counter.Count(t.Context(), "hello world"); n != 2 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
	wg.Wait()
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	counter := brief.NewCounter()
	if counter.TooLong(strings.Repeat("a", 80), 10) {
		t.Error("80 bytes may be 10 tokens")
	}
	if !counter.TooLong(strings.Repeat("a", 81), 10) {
		t.Error("81 bytes are not 10 tokens")
	}
}

func BenchmarkCount(b *testing.B) {
	counter := brief.NewCounter()
	text := strings.Repeat("The quick brown fox jumps over the lazy dog; 42 times.\n", 1200)
	if _, err := counter.Count(b.Context(), text); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := counter.Count(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}
