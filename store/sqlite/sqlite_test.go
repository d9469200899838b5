package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parley"
	"parley/store/sqlite"
)

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	t.Parallel()
	modes := func(t *testing.T, dir string) {
		t.Helper()
		seen := map[string]bool{}
		must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if entry.IsDir() {
				want = 0o700
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %o, want %o", path, got, want)
			}
			seen[entry.Name()] = true
			return nil
		}))
		for _, name := range []string{"parley.db", "parley.db-wal", "parley.db-shm", "owners"} {
			if !seen[name] {
				t.Errorf("there is no %s", name)
			}
		}
	}

	t.Run("New", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "deep", "home")
		db := open(t, dir, sqlite.Options{})
		_, err := begin(db, "t")
		must(t, err)
		modes(t, dir)
	})

	t.Run("Widened", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, open(t, dir, sqlite.Options{}).Close())
		must(t, os.Chmod(dir, 0o755))
		must(t, os.Chmod(filepath.Join(dir, "parley.db"), 0o644))
		db := open(t, dir, sqlite.Options{})
		_, err := begin(db, "t")
		must(t, err)
		modes(t, dir)
	})

	t.Run("EmptyFolder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o755))
		open(t, dir, sqlite.Options{})
		modes(t, dir)
	})

	t.Run("ForeignFolder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
		must(t, os.Chmod(dir, 0o755))
		open(t, dir, sqlite.Options{})
		info, err := os.Stat(dir)
		must(t, err)
		if got, want := info.Mode().Perm(), fs.FileMode(0o755); got != want {
			t.Errorf("a folder that we did not make now has mode %o, want %o", got, want)
		}
	})
}

// newer makes a store look like a later version's.
func newer(t *testing.T, db *sqlite.DB) {
	t.Helper()
	must(t, db.Exec("UPDATE meta SET schema = 99, min_reader = 7"))
}

func wantUnavailable(t *testing.T, err error, words ...string) {
	t.Helper()
	if got := parley.ErrorCode(err); got != parley.CodeStoreUnavailable {
		t.Fatalf("got error %v, want %s", err, parley.CodeStoreUnavailable)
	}
	known := parley.AsError(err)
	for _, word := range words {
		if !strings.Contains(known.Message, word) {
			t.Errorf("message %q does not say %q", known.Message, word)
		}
	}
	if known.Hint == "" {
		t.Error("there is no hint")
	}
}

// wantRefused opens the store and expects an error and unchanged bytes.
func wantRefused(t *testing.T, dir string, words ...string) {
	t.Helper()
	before := content(t, dir)
	db, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err == nil {
		_ = db.Close()
		t.Fatal("the store was opened")
	}
	wantUnavailable(t, err, words...)
	after := content(t, dir)
	for name, was := range before {
		if is, ok := after[name]; !ok || !bytes.Equal(was, is) {
			t.Errorf("%s was changed", name)
		}
	}
}

func content(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, entry := range entries {
		if entry.Type().IsRegular() && !strings.HasSuffix(entry.Name(), "-shm") {
			data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			must(t, err)
			files[entry.Name()] = data
		}
	}
	return files
}

func TestNewerStore(t *testing.T) {
	t.Parallel()

	t.Run("Open", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		db := open(t, dir, sqlite.Options{})
		newer(t, db)
		must(t, db.Close())
		wantRefused(t, dir, "newer parley", "needs version 7")
	})

	t.Run("OpenAfterCrash", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		db := open(t, dir, sqlite.Options{})
		newer(t, db)
		crashed := t.TempDir() // a copy, as a crash would leave it: with the log
		for name, data := range content(t, dir) {
			must(t, os.WriteFile(filepath.Join(crashed, name), data, 0o600))
		}
		wantRefused(t, crashed, "newer parley")
	})

	t.Run("Begin", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		old, upgrade := open(t, dir, sqlite.Options{}), open(t, dir, sqlite.Options{})
		run, err := begin(old, "t")
		must(t, err)
		newer(t, upgrade)
		_, err = old.Begin(t.Context(), newRun(old, "t"), nil)
		wantUnavailable(t, err, "newer parley")
		_, err = old.End(t.Context(), run.Fence(), answer("q")) // what was begun may be finished
		must(t, err)
	})
}

func TestDamagedStore(t *testing.T) {
	t.Parallel()
	garbage := bytes.Repeat([]byte("this is no database\n"), 1000)

	t.Run("Garbage", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "parley.db"), garbage, 0o600))
		wantRefused(t, dir, "damaged", "nothing was overwritten", dir)
	})

	t.Run("GarbageWithLog", func(t *testing.T) {
		t.Parallel()
		live, dir := t.TempDir(), t.TempDir()
		db := open(t, live, sqlite.Options{})
		_, err := begin(db, "t")
		must(t, err)
		log, err := os.ReadFile(filepath.Join(live, "parley.db-wal"))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "parley.db"), garbage, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "parley.db-wal"), log, 0o600))
		wantRefused(t, dir, "damaged")
	})

	t.Run("EmptyWithLog", func(t *testing.T) {
		t.Parallel()
		live, dir := t.TempDir(), t.TempDir()
		db := open(t, live, sqlite.Options{})
		_, err := begin(db, "t")
		must(t, err)
		log, err := os.ReadFile(filepath.Join(live, "parley.db-wal"))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "parley.db"), nil, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "parley.db-wal"), log, 0o600))
		wantRefused(t, dir, "damaged")
	})

	t.Run("Truncated", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, open(t, dir, sqlite.Options{}).Close())
		must(t, os.Truncate(filepath.Join(dir, "parley.db"), 5000))
		wantRefused(t, dir, "damaged")
	})

	t.Run("Foreign", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		db := open(t, dir, sqlite.Options{})
		must(t, db.Exec("ALTER TABLE meta RENAME TO other"))
		must(t, db.Close())
		wantRefused(t, dir, "not a parley store")
	})
}

func TestUnwritableFolder(t *testing.T) {
	t.Parallel()

	t.Run("ReadOnly", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() == 0 {
			t.Skip("root may write anywhere")
		}
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o500))
		_, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		wantUnavailable(t, err, "cannot be written")
		_, err = sqlite.Open(t.Context(), filepath.Join(dir, "home"), sqlite.Options{})
		wantUnavailable(t, err, "cannot be written")
	})

	t.Run("File", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(dir, nil, 0o600))
		_, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		wantUnavailable(t, err, "cannot be written")
	})
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, sqlite.WithMaxPages(sqlite.Options{}, 100))
	run, err := begin(db, "t")
	must(t, err)
	big := answer(strings.Repeat("x", 1<<20))
	_, err = db.End(t.Context(), run.Fence(), big)
	wantUnavailable(t, err, "full")
	if !parley.AsError(err).Retryable {
		t.Error("a full disk is worth another try")
	}

	thread, err := db.Thread(t.Context(), "t")
	must(t, err)
	if got, err := db.Run(t.Context(), run.ID); err != nil || got.State != parley.StateRunning || thread.Turns != 0 {
		t.Errorf("the failed end had an effect: run %s, %d turns, %v", got.State, thread.Turns, err)
	}
	must(t, db.AppendDraft(t.Context(), run.Fence(), "a little fits"))
	must(t, db.Exec("PRAGMA max_page_count = 100000"))
	ended, err := db.End(t.Context(), run.Fence(), big)
	must(t, err)
	if ended.Result.Turn != 1 {
		t.Errorf("got turn %d, want 1", ended.Result.Turn)
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, other := open(t, dir, sqlite.Options{BusyTimeout: time.Millisecond}), open(t, dir, sqlite.Options{})
	run, err := begin(db, "t")
	must(t, err)
	must(t, other.Exec("BEGIN IMMEDIATE"))
	err = db.AppendDraft(t.Context(), run.Fence(), "x")
	wantUnavailable(t, err, "locked")
	if !parley.AsError(err).Retryable {
		t.Error("a busy store is worth another try")
	}
	must(t, other.Exec("ROLLBACK"))
	must(t, db.AppendDraft(t.Context(), run.Fence(), "x"))
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	const writes = 100
	db := open(t, t.TempDir(), sqlite.Options{})
	run, err := begin(db, "t")
	must(t, err)
	wrong := run.Fence()
	wrong.Attempt++

	resume := db.Pause()
	before := db.Commits()
	var group sync.WaitGroup
	for i := range writes {
		group.Go(func() {
			// One that fails must not take the others with it.
			if i%10 == 0 {
				if err := db.AppendDraft(t.Context(), wrong, "y"); !errors.Is(err, parley.ErrFenced) {
					t.Errorf("got %v, want ErrFenced", err)
				}
				return
			}
			if err := db.AppendDraft(t.Context(), run.Fence(), "x"); err != nil {
				t.Errorf("append: %v", err)
			}
		})
	}
	// A caller that goes away while it waits leaves nothing behind.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- db.AppendDraft(ctx, run.Fence(), "z") }()
	for db.Waiting() < writes+1 {
		runtime.Gosched()
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	resume()
	group.Wait()

	// The pause itself and the batch.
	if got, want := db.Commits()-before, int64(2); got != want {
		t.Errorf("%d writes took %d commits, want %d", writes, got, want)
	}
	draft, err := db.Draft(t.Context(), run.ID)
	must(t, err)
	if got, want := draft, strings.Repeat("x", writes-writes/10); got != want {
		t.Errorf("got draft %q, want %q", got, want)
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	now := time.Now()
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	for name, o := range map[string]sqlite.Options{
		"NoLocksAnywhere": sqlite.WithoutLocks(sqlite.Options{Now: clock}),
		"NoLocksThere":    {Now: clock},
	} {
		db, other := open(t, dir, o), open(t, dir, sqlite.WithoutLocks(sqlite.Options{Now: clock}))
		run, err := begin(other, name)
		must(t, err)
		orphans := func() int {
			t.Helper()
			all, err := db.Orphans(t.Context())
			must(t, err)
			return len(all)
		}
		if got := orphans(); got != 0 {
			t.Errorf("%s: got %d orphans within the lease", name, got)
		}
		mu.Lock()
		now = now.Add(31 * time.Second)
		mu.Unlock()
		if got := orphans(); got != 1 {
			t.Errorf("%s: got %d orphans after the lease, want 1", name, got)
		}
		must(t, other.Heartbeat(t.Context(), clock()))
		if got := orphans(); got != 0 {
			t.Errorf("%s: got %d orphans after a heartbeat", name, got)
		}
		_, err = other.End(t.Context(), run.Fence(), answer("q"))
		must(t, err)
	}
}

func TestIdleHeartbeatWritesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), sqlite.Options{})
	before := db.Commits()
	must(t, db.Heartbeat(t.Context(), time.Now()))
	if got := db.Commits(); got != before {
		t.Errorf("it took %d commits", got-before)
	}
}

func TestSpendsAreKept(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), sqlite.Options{})
	run, err := begin(db, "t")
	must(t, err)
	spend := parley.Spend{RunID: run.ID, ThreadID: "t", Outcome: "ok"}
	ending := answer("q")
	ending.Spends = []parley.Spend{spend, spend}
	_, err = db.End(t.Context(), run.Fence(), ending)
	must(t, err)
	must(t, db.RecordSpend(t.Context(), spend))
	// A fenced end has no effect at all; its caller records the spends itself.
	if _, err := db.End(t.Context(), run.Fence(), ending); !errors.Is(err, parley.ErrFenced) {
		t.Errorf("got %v, want ErrFenced", err)
	}
	future := time.Now().Add(time.Hour)
	must(t, db.Prune(t.Context(), parley.Retention{RunsEndedBefore: future, ThreadsIdleBefore: future}))
	for query, want := range map[string]int{
		"SELECT count(*) FROM costs WHERE run_id = '" + run.ID + "'": 3,
		"SELECT count(*) FROM runs":                                  0,
		"SELECT count(*) FROM turns":                                 0,
	} {
		if got, err := db.Count(query); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", query, got, err, want)
		}
	}
}

func TestSchemaVersion(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("migrations")
	must(t, err)
	if got, want := sqlite.SchemaVersion, len(files); got != want {
		t.Errorf("the schema version is %d, and there are %d migrations", got, want)
	}
	db := open(t, t.TempDir(), sqlite.Options{})
	if got, err := db.Count("SELECT schema FROM meta"); err != nil || got != sqlite.SchemaVersion {
		t.Errorf("a new store is at schema %d, %v, want %d", got, err, sqlite.SchemaVersion)
	}
}

func TestCloseLeavesNoOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, open(t, dir, sqlite.Options{}).Close())
	entries, err := os.ReadDir(filepath.Join(dir, "owners"))
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "parley.db-wal")); !os.IsNotExist(err) {
		t.Errorf("the log was not folded in: %v", err)
	}
}

func TestOddFolderName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a?b#c%20d é")
	if runtime.GOOS == "windows" {
		dir = filepath.Join(t.TempDir(), "b#c%20d é")
	}
	_, err := begin(open(t, dir, sqlite.Options{}), "t")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "parley.db")); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	_, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Durability: "off; DROP TABLE turns"})
	if got := parley.ErrorCode(err); got != parley.CodeInvalidArgument {
		t.Errorf("got %v, want %s", err, parley.CodeInvalidArgument)
	}
}

func BenchmarkBeginEnd(b *testing.B) {
	for _, durability := range []string{sqlite.DurabilityNormal, sqlite.DurabilityFull} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", durability, callers), func(b *testing.B) {
				db := open(b, b.TempDir(), sqlite.Options{Durability: durability})
				_, err := begin(db, sharedThread)
				must(b, err)
				question := strings.Repeat("why? ", 200)
				var group sync.WaitGroup
				before := db.Commits()
				b.ReportAllocs()
				b.ResetTimer()
				for caller := range callers {
					group.Go(func() {
						for i := caller; i < b.N; i += callers {
							if _, err := ask(b.Context(), db, sharedThread, question); err != nil {
								b.Error(err)
							}
						}
					})
				}
				group.Wait()
				b.ReportMetric(float64(db.Commits()-before)/float64(b.N), "commits/op")
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	must(b, open(b, dir, sqlite.Options{}).Close())
	for b.Loop() {
		db, err := sqlite.Open(b.Context(), dir, sqlite.Options{})
		must(b, err)
		must(b, db.Close())
	}
}

// An older binary that was running when the store was raised past it neither
// takes up runs nor removes any.
func TestOlderProcessClaimsAndPrunesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), sqlite.Options{})
	thread := newThread("t")
	run := newRun(db, "t")
	run.State, run.Mode, run.Owner, run.Attempt = parley.StateQueued, parley.ModeAsync, "", 0
	left, err := db.Begin(t.Context(), run, &thread)
	must(t, err)
	newer(t, db)
	_, err = db.Claim(t.Context(), left.Fence(), time.Now())
	wantUnavailable(t, err)
	wantUnavailable(t, db.Prune(t.Context(), parley.Retention{RunsEndedBefore: time.Now().Add(time.Hour)}))
}

// A process that ends does not wait for one that has stopped with the lock.
func TestCloseDoesNotWaitForAnothersLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), dir, sqlite.Options{BusyTimeout: time.Hour})
	must(t, err)
	other, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "parley.db")+"?_txlock=immediate")
	must(t, err)
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	written := make(chan error, 1)
	go func() {
		_, err := begin(db, "t")
		written <- err
	}()
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case <-closed: // with the hour it would wait for the lock, this would never come
	case <-time.After(time.Minute):
		t.Fatal("Close waits for the other process")
	}
	if err := <-written; parley.ErrorCode(err) != parley.CodeStoreUnavailable {
		t.Errorf("the write: %v", err)
	}
}
