package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

const (
	// watchPoll is how soon a change by another process is seen.
	watchPoll = 25 * time.Millisecond
	// watchLimit is when Changed returns although nothing was seen: what a
	// change costs that fell between a caller's read and its call.
	watchLimit = 250 * time.Millisecond
)

// watcher notices commits: this process's at once, other processes' by polling
// PRAGMA data_version on a connection of its own, and only while someone waits.
type watcher struct {
	db   *sql.DB
	conn *sql.Conn
	// seen is the data version at the last poll.
	seen int64

	mu      sync.Mutex
	changed chan struct{}
	waiters int

	wake chan struct{}
	quit chan struct{}
	done chan struct{}
}

func newWatcher(db *sql.DB) *watcher {
	w := &watcher{
		db: db, changed: make(chan struct{}),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w
}

// Changed returns nil when the store may have changed. Call it in a loop, and
// read after each return: a change that fell between a read and the call is
// reported within a quarter of a second, every other one within a poll.
func (db *DB) Changed(ctx context.Context) error {
	changed := db.watch.join()
	defer db.watch.leave()
	limit := time.NewTimer(watchLimit)
	defer limit.Stop()
	select {
	case <-changed:
	case <-limit.C:
	case <-ctx.Done():
		return ctx.Err()
	case <-db.watch.quit:
		return errClosed()
	}
	return nil
}

func (w *watcher) join() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiters++
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return w.changed
}

func (w *watcher) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiters--
}

// notify wakes everyone who waits now.
func (w *watcher) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watcher) run() {
	defer close(w.done)
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	for {
		poll.Stop()
		select {
		case <-w.quit:
			return
		case <-w.wake:
		}
		poll.Reset(watchPoll)
		for w.waited() {
			if w.moved() {
				w.notify()
			}
			select {
			case <-w.quit:
				return
			case <-w.wake: // a newcomer need not wait for the tick
			case <-poll.C:
			}
		}
	}
}

func (w *watcher) waited() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiters > 0
}

// moved reports whether anyone has committed since it was last asked. Trouble
// with the connection counts as no; the caller's next read reports it better.
func (w *watcher) moved() bool {
	if w.conn == nil {
		conn, err := w.db.Conn(context.Background())
		if err != nil {
			return false
		}
		w.conn = conn
	}
	var now int64
	if err := w.conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&now); err != nil {
		return false
	}
	moved := now != w.seen
	w.seen = now
	return moved
}

func (w *watcher) close() error {
	close(w.quit)
	<-w.done
	var connErr error
	if w.conn != nil {
		connErr = w.conn.Close()
	}
	return errors.Join(connErr, w.db.Close())
}
