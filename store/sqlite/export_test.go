package sqlite

import (
	"context"
	"errors"
	"os"
)

// Commits counts the transactions that were committed.
func (db *DB) Commits() int64 { return db.writer.commits.Load() }

// Pause keeps the writer from its work until resume is called.
func (db *DB) Pause() (resume func()) {
	begun, release := make(chan struct{}), make(chan struct{})
	db.writer.submit(&job{done: make(chan struct{}), do: func(*tx) error {
		close(begun)
		<-release
		return nil
	}})
	<-begun
	return func() { close(release) }
}

// Waiting counts the writes that are queued.
func (db *DB) Waiting() int {
	db.writer.mu.Lock()
	defer db.writer.mu.Unlock()
	return len(db.writer.queue)
}

// Exec runs SQL that the store itself would not.
func (db *DB) Exec(query string, args ...any) error {
	_, err := db.writer.conn.ExecContext(context.Background(), query, args...)
	return err
}

// Count runs a query for one number.
func (db *DB) Count(query string) (n int, err error) {
	err = db.reads.QueryRowContext(context.Background(), query).Scan(&n)
	return n, err
}

// SchemaVersion is the schema that this binary brings.
const SchemaVersion = schemaVersion

// WithMaxPages has the disk full at n pages.
func WithMaxPages(o Options, n int) Options {
	o.maxPages = n
	return o
}

// WithoutLocks is a file system that has none.
func WithoutLocks(o Options) Options {
	o.tryLock = func(*os.File, lockMode) error { return errors.ErrUnsupported }
	return o
}
