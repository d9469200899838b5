package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	codes "modernc.org/sqlite/lib"

	"parley"
)

const (
	// schemaVersion is the number of the newest migration.
	schemaVersion = 1
	// readerVersion is what this binary understands. A store whose
	// meta.min_reader is above it is not touched.
	readerVersion = 1
)

//go:embed migrations/*.sql
var migrations embed.FS

var (
	errForeign   = errors.New("the database has other tables than a parley store")
	errTruncated = errors.New("the database is empty but its log is not")
)

// version is what the meta table says; zero for an empty file.
type version struct {
	schema    int
	minReader int
}

func (v version) check() error {
	if v.minReader <= readerVersion {
		return nil
	}
	return parley.Errorf(parley.CodeStoreUnavailable,
		"this store was written by a newer parley (needs version %d, this is %d)", v.minReader, readerVersion).
		WithHint("Upgrade parley, and restart the ones that are still running.")
}

// prepareSchema brings the file at path to this binary's schema. The usual
// case, a current file, only reads; nothing is written before the file is known
// to be a store that this binary may write.
func prepareSchema(ctx context.Context, path string, o Options) error {
	switch v, err := inspect(ctx, path, o); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case v.schema >= schemaVersion:
		return v.check()
	}
	unlock, err := lockMigrations(ctx, filepath.Join(filepath.Dir(path), migrateName))
	if err != nil {
		return err
	}
	defer unlock()

	// Another process may have been here in the meantime.
	v, err := inspect(ctx, path, o)
	if errors.Is(err, fs.ErrNotExist) {
		err = createDatabase(path)
	}
	if err != nil {
		return err
	}
	if err := v.check(); err != nil || v.schema >= schemaVersion {
		return err
	}
	return migrate(ctx, path, o)
}

// lockMigrations lets one process migrate at a time. Where locks do not work
// SQLite's have to do: then the slower of two processes may fail to open, but
// does no harm.
func lockMigrations(ctx context.Context, path string) (unlock func(), err error) {
	f, err := createPrivate(path)
	if err != nil {
		return nil, err
	}
	if err := waitLock(ctx, f); ctx.Err() != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// createDatabase makes the empty file before SQLite does, for its mode; the log
// and its index inherit it.
func createDatabase(path string) error {
	f, err := createPrivate(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func migrate(ctx context.Context, path string, o Options) error {
	db := connect(writeDSN(path, o))
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return fmt.Errorf("switch to a write-ahead log: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// inspect reads the version of the file at path through descriptors that
// cannot write. It returns fs.ErrNotExist if there is no file.
func inspect(ctx context.Context, path string, o Options) (version, error) {
	// The log first: whoever creates a store writes to the file before the log.
	log, logErr := os.Stat(path + "-wal")
	file, err := os.Stat(path)
	switch {
	case err != nil:
		return version{}, err
	case file.Size() == 0 && logErr == nil && log.Size() > 0:
		// SQLite would throw the log away.
		return version{}, errTruncated
	case file.Size() == 0:
		return version{}, nil
	}
	if err := inspectHeader(ctx, path, o); err != nil {
		return version{}, err
	}
	db := connect(dsn(path, o, url.Values{"mode": {"ro"}}))
	defer func() { _ = db.Close() }()
	v, err := readVersion(ctx, db)
	if is(err, codes.SQLITE_READONLY) {
		// A process died while it created the store, before the first
		// migration, and left a journal that only a writer may roll back.
		return version{}, nil
	}
	return v, err
}

// inspectHeader makes sure that the file itself is a database. Opened as
// immutable, SQLite looks at nothing else, not even the log, and takes no
// locks. That the file is shorter than its header says is no proof of damage
// then: another process may be folding the log in.
func inspectHeader(ctx context.Context, path string, o Options) error {
	db := connect(dsn(path, o, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	defer func() { _ = db.Close() }()
	var cookie int
	err := db.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&cookie)
	if is(err, codes.SQLITE_CORRUPT) {
		return nil
	}
	return err
}

func readVersion(ctx context.Context, db *sql.DB) (version, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return version{}, err
	}
	defer func() { _ = conn.Close() }()
	var tables, ours, goosed int
	err = conn.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(name = 'meta'), 0), coalesce(sum(name = 'goose_db_version'), 0)
		FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).
		Scan(&tables, &ours, &goosed)
	switch {
	case err != nil:
		return version{}, err
	case tables == goosed:
		return version{}, nil
	case ours == 0:
		return version{}, errForeign
	}
	var v version
	err = conn.QueryRowContext(ctx, selectVersion).Scan(&v.schema, &v.minReader)
	if is(err, codes.SQLITE_ERROR) {
		return version{}, fmt.Errorf("%w: %w", errForeign, err)
	}
	return v, err
}

const selectVersion = "SELECT schema, min_reader FROM meta"
