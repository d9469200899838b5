package sqlite_test

import (
	"testing"

	"parley"
	"parley/store/sqlite"
	"parley/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(tb testing.TB) func() parley.Store {
		tb.Helper()
		dir := tb.TempDir()
		return func() parley.Store { return open(tb, dir, sqlite.Options{}) }
	})
}

func open(tb testing.TB, dir string, o sqlite.Options) *sqlite.DB {
	tb.Helper()
	db, err := sqlite.Open(tb.Context(), dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return db
}
