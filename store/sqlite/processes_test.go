package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"parley"
	"parley/store/sqlite"
)

func TestProcesses(t *testing.T) {
	t.Parallel()

	t.Run("WriteAtOnce", func(t *testing.T) {
		t.Parallel()
		const processes = 8
		dir := t.TempDir()
		db := open(t, dir, sqlite.Options{})
		_, err := begin(db, sharedThread)
		must(t, err)

		var all []*process
		for range processes {
			all = append(all, start(t, "write", dir))
		}
		acked := map[string]bool{}
		for _, p := range all {
			for _, line := range p.wait(t) {
				acked[line] = true
			}
		}
		turns, err := db.Turns(t.Context(), sharedThread, parley.Span{From: 1, Through: 1 << 20})
		must(t, err)
		if got, want := len(turns), processes*turnsPerChild; got != want || len(acked) != want {
			t.Fatalf("got %d turns and %d acknowledged, want %d", got, len(acked), want)
		}
		for i, turn := range turns {
			if turn.Number != i+1 {
				t.Fatalf("turn %d has the number %d", i+1, turn.Number)
			}
			if line := fmt.Sprintf("%d %s", turn.Number, turn.Question); !acked[line] {
				t.Errorf("turn %q was not acknowledged as such", line)
			}
		}
	})

	t.Run("Kill", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		db := open(t, dir, sqlite.Options{})
		_, err := begin(db, sharedThread)
		must(t, err)
		child := start(t, "hold", dir)
		held := []string{child.line(t), child.line(t), child.line(t)}
		orphans, err := db.Orphans(t.Context())
		must(t, err)
		if len(orphans) > 0 {
			t.Errorf("got %d orphans while their owner lives", len(orphans))
		}

		must(t, child.cmd.Process.Kill())
		_ = child.cmd.Wait()
		orphans, err = db.Orphans(t.Context())
		must(t, err)
		var got []string
		for _, run := range orphans {
			got = append(got, run.ID)
		}
		if !slices.Equal(got, held) {
			t.Fatalf("got orphans %v, want %v", got, held)
		}
		lock := filepath.Join(dir, "owners", orphans[0].Owner+".lock")
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("the lock of an owner with runs is gone: %v", err)
		}
		for _, run := range orphans {
			_, err := db.Claim(t.Context(), run.Fence(), run.HeartbeatAt)
			must(t, err)
		}
		_, err = db.Orphans(t.Context())
		must(t, err)
		if _, err := os.Stat(lock); !os.IsNotExist(err) {
			t.Errorf("the lock of a dead owner without runs is still there: %v", err)
		}
	})

	t.Run("MigrateAtOnce", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "new", "home")
		var all []*process
		for range 4 {
			all = append(all, start(t, "open", dir))
		}
		for _, p := range all {
			p.line(t)
		}
		for _, p := range all {
			must(t, p.stdin.Close())
		}
		for _, p := range all {
			p.wait(t)
		}
		_, err := begin(open(t, dir, sqlite.Options{}), sharedThread)
		must(t, err)
	})
}
