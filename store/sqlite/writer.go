package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"
)

// batchLimit bounds how long the first caller of a batch waits for the others.
const batchLimit = 128

// writer is the one goroutine of this process that writes. It takes whatever
// is waiting and commits it at once, so that many callers share the cost of one
// commit, and answers after the commit only.
type writer struct {
	db        *sql.DB
	conn      *sql.Conn
	stmts     map[string]*sql.Stmt
	committed func()
	commits   atomic.Int64

	mu     sync.Mutex
	queue  []*job
	closed bool

	// patience is how long another process may hold the store.
	patience time.Duration
	closing  chan struct{}
	wake     chan struct{}
	done     chan struct{}
}

// job is one caller's write.
type job struct {
	do      func(*tx) error
	started atomic.Int32
	err     error
	done    chan struct{}
}

// What a job's started says. Whoever moves it from waiting decides: the writer
// that begins it or the caller that goes away.
const (
	jobWaiting = iota
	jobBegun
	jobAbandoned
)

func newWriter(ctx context.Context, db *sql.DB, patience time.Duration, committed func()) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w := &writer{
		db: db, conn: conn, stmts: map[string]*sql.Stmt{}, committed: committed, patience: patience,
		closing: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go w.run()
	return w, nil
}

// write runs do in a transaction and returns when it is committed. A caller
// whose context ends before its turn is gone without a trace; after that it
// waits, so that nobody is told "cancelled" about a write that happened.
func (w *writer) write(ctx context.Context, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{do: do, done: make(chan struct{})}
	if !w.submit(j) {
		return errClosed()
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.started.CompareAndSwap(jobWaiting, jobAbandoned) {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

func (w *writer) submit(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.queue = append(w.queue, j)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

func (w *writer) run() {
	defer close(w.done)
	for range w.wake {
		for batch := w.take(); len(batch) > 0; batch = w.take() {
			w.commit(batch)
		}
	}
}

func (w *writer) take() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), batchLimit)
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	return batch
}

// commit carries a batch out in one transaction. A job that fails for its own
// reasons is rolled back alone; one that fails for the store's takes the others
// with it.
func (w *writer) commit(batch []*job) {
	begun, err := w.transact(batch)
	if err == nil {
		w.commits.Add(1)
		w.committed()
	}
	for _, j := range begun {
		if err != nil {
			j.err = err
		}
		close(j.done)
	}
}

// transact returns the jobs whose callers wait for an answer.
func (w *writer) transact(batch []*job) (begun []*job, err error) {
	if err := w.begin(); err != nil {
		return begin(batch), err
	}
	for i, j := range batch {
		if len(begin(batch[i:i+1])) == 0 {
			continue
		}
		begun = append(begun, j)
		if err := w.apply(j); err != nil {
			w.rollback()
			return append(begun, begin(batch[i+1:])...), err
		}
	}
	if err := w.exec("COMMIT"); err != nil {
		w.rollback()
		return begun, err
	}
	return begun, nil
}

// begin waits for its turn among the processes, in short pieces: a process that
// is ending does not wait for one that has stopped.
func (w *writer) begin() error {
	for until := time.Now().Add(w.patience); ; {
		err := w.exec("BEGIN IMMEDIATE")
		if !is(err, codes.SQLITE_BUSY) || time.Now().After(until) {
			return err
		}
		select {
		case <-w.closing:
			return err
		default:
		}
	}
}

// begin marks the jobs that still have a caller, and returns them.
func begin(jobs []*job) []*job {
	var begun []*job
	for _, j := range jobs {
		if j.started.CompareAndSwap(jobWaiting, jobBegun) {
			begun = append(begun, j)
		}
	}
	return begun
}

// apply runs one job in its own savepoint. It returns an error only if the
// whole transaction is lost.
func (w *writer) apply(j *job) error {
	if err := w.exec("SAVEPOINT job"); err != nil {
		return err
	}
	j.err = j.do(&tx{w})
	if j.err != nil {
		if fatal(j.err) {
			return j.err
		}
		if err := w.exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	return w.exec("RELEASE job")
}

func (w *writer) rollback() {
	// It fails if SQLite has rolled back by itself, which is as good.
	_ = w.exec("ROLLBACK")
}

func (w *writer) exec(query string) error {
	_, err := (&tx{w}).exec(query)
	return err
}

// stmt prepares each statement once. Statements are constants of this package,
// so there are only so many.
func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if stmt, ok := w.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	w.stmts[query] = stmt
	return stmt, nil
}

// close commits what is waiting.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.closing)
	close(w.wake)
	w.mu.Unlock()
	<-w.done
	var errs []error
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// tx is what a job may do. It has no context: a job that has begun is finished.
type tx struct{ w *writer }

// exec returns the number of rows that were changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	stmt, err := t.w.stmt(query) //nolint:sqlclosecheck // the writer closes it
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row reads one row; sql.ErrNoRows if there is none.
func (t *tx) row(query string, args ...any) scanner {
	stmt, err := t.w.stmt(query) //nolint:sqlclosecheck // the writer closes it
	if err != nil {
		return failedRow{err}
	}
	return stmt.QueryRowContext(context.Background(), args...)
}

func (t *tx) rows(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.w.stmt(query) //nolint:sqlclosecheck // the writer closes it
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// scanner is a row of a result.
type scanner interface{ Scan(dest ...any) error }

type failedRow struct{ err error }

func (f failedRow) Scan(...any) error { return f.err }
