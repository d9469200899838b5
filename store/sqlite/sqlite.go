// Package sqlite keeps threads and runs in one SQLite file, shared by every
// parley process of a user.
//
// Within a process one goroutine writes, and commits everything that is waiting
// at once; a few connections read. Between processes SQLite's own locks and the
// fences of [parley.Run] keep order. Who is alive is known from a file lock per
// process, so that a dead process's runs can be taken up at once.
package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"

	"parley"
)

// The durabilities. Both survive kill -9 at any moment.
const (
	// DurabilityNormal may lose the last commits in a power cut, never the rest.
	DurabilityNormal = "normal"
	// DurabilityFull waits for the disk at each commit.
	DurabilityFull = "full"
)

// Options are the settings of a store. The zero value works.
type Options struct {
	// Durability is DurabilityNormal or DurabilityFull. Empty is normal.
	Durability string
	// Now is the clock for heartbeats and leases. Nil is time.Now.
	Now func() time.Time
	// BusyTimeout is how long to wait for other processes' writes before a
	// call fails. Zero is 10 seconds.
	BusyTimeout time.Duration

	// maxPages limits the size of the file, to have tests fill the disk.
	maxPages int
	// tryLock replaces the operating system's locks in tests.
	tryLock lockFunc
}

const (
	defaultBusyTimeout = 10 * time.Second
	// readers is small because each connection keeps a page cache.
	readers       = 4
	idleReaders   = 1
	readerIdle    = 30 * time.Second
	writerCacheKB = 2000
	readerCacheKB = 1000
	// walLimit is what the write-ahead log is cut back to after a checkpoint.
	walLimit = 8 << 20
	// lease is how long a heartbeat counts where file locks do not work.
	lease = 30 * time.Second
)

// DB is a [parley.Store] in a SQLite file.
type DB struct {
	path   string
	now    func() time.Time
	owners *owners
	reads  *sql.DB
	writer *writer
	watch  *watcher

	close    sync.Once
	closed   atomic.Bool
	closeErr error
}

var _ parley.Store = (*DB)(nil)

// Open opens the store in dir, which is made if it is missing, and registers
// this process as a living owner until Close. A file that is damaged, foreign
// or of a newer parley is left untouched.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	path := filepath.Join(dir, databaseName)
	db, err := open(ctx, dir, path, o.withDefaults())
	if err != nil {
		return nil, explain("open store", path, err)
	}
	return db, nil
}

func open(ctx context.Context, dir, path string, o Options) (_ *DB, err error) {
	if o.Durability != DurabilityNormal && o.Durability != DurabilityFull {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "durability is %q", o.Durability).
			WithHint("PARLEY_DURABILITY is %s or %s.", DurabilityNormal, DurabilityFull)
	}
	if err := prepareHome(dir); err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, path, o); err != nil {
		return nil, err
	}
	if err := protect(path); err != nil {
		return nil, err
	}
	if err := makeFolder(filepath.Join(dir, ownersName)); err != nil {
		return nil, err
	}
	db := &DB{
		path: path,
		now:  o.Now,
		owners: &owners{
			dir: filepath.Join(dir, ownersName), self: parley.NewOwnerID(), try: o.tryLock,
		},
	}
	if err := db.owners.join(ctx); err != nil {
		return nil, err
	}
	db.watch = newWatcher(connect(readDSN(path, o)))
	db.writer, err = newWriter(ctx, connect(writeDSN(path, o)), o.BusyTimeout, db.watch.notify)
	if err != nil {
		return nil, errors.Join(err, db.watch.close(), db.owners.leave())
	}
	db.reads = connect(readDSN(path, o))
	db.reads.SetMaxOpenConns(readers)
	db.reads.SetMaxIdleConns(idleReaders)
	db.reads.SetConnMaxIdleTime(readerIdle)
	return db, nil
}

func (o Options) withDefaults() Options {
	if o.Durability == "" {
		o.Durability = DurabilityNormal
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	if o.tryLock == nil {
		o.tryLock = tryLock
	}
	return o
}

// Owner is this process's id among the owners of runs.
func (db *DB) Owner() string { return db.owners.self }

// Close commits what is waiting and lets go of the store. Live runs of this
// process become orphans. The last process to close folds the write-ahead log
// into the file.
func (db *DB) Close() error {
	db.close.Do(func() {
		db.closed.Store(true)
		db.closeErr = errors.Join(
			db.watch.close(),
			db.reads.Close(),
			// Last of the connections, so that closing it checkpoints.
			db.writer.close(),
			db.owners.leave(),
		)
	})
	return db.closeErr
}

// connect makes a pool without opening a connection.
func connect(dsn string) *sql.DB {
	connector, err := driver.NewConnector(dsn)
	if err != nil {
		return sql.OpenDB(noConnector{err})
	}
	return sql.OpenDB(connector)
}

// noConnector tells whoever first uses a pool why it cannot connect.
type noConnector struct{ err error }

func (c noConnector) Connect(context.Context) (sqldriver.Conn, error) { return nil, c.err }
func (c noConnector) Driver() sqldriver.Driver                        { return nil }

// turn is how long one try to write waits for the other processes.
const turn = 40 * time.Millisecond

func writeDSN(path string, o Options) string {
	pragmas := []string{
		"synchronous(" + o.Durability + ")",
		"foreign_keys(1)",
		"cache_size(-" + strconv.Itoa(writerCacheKB) + ")",
		"journal_size_limit(" + strconv.Itoa(walLimit) + ")",
	}
	if o.maxPages > 0 {
		pragmas = append(pragmas, "max_page_count("+strconv.Itoa(o.maxPages)+")")
	}
	// The writer itself waits for as long as the options say, piece by piece.
	o.BusyTimeout = min(o.BusyTimeout, turn)
	return dsn(path, o, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": pragmas})
}

// readDSN opens for writing, as reading a log that a dead process left behind
// needs, and forbids it in SQL.
func readDSN(path string, o Options) string {
	return dsn(path, o, url.Values{"mode": {"rw"}, "_query_only": {"1"}, "_pragma": {
		"cache_size(-" + strconv.Itoa(readerCacheKB) + ")",
	}})
}

func dsn(path string, o Options, query url.Values) string {
	query.Set("_busy_timeout", strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10))
	path = filepath.ToSlash(path)
	if path[0] != '/' {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}
