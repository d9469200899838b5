package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"parley"
)

// explain turns whatever went wrong into an error for the reader: his own
// mistakes and ended contexts as they are, the store's troubles in plain words
// with what to do about them.
func (db *DB) explain(ctx context.Context, doing string, err error) error {
	if err == nil || errors.Is(err, parley.ErrFenced) {
		return err
	}
	if _, known := errors.AsType[*parley.Error](err); known {
		return err
	}
	if db.closed.Load() {
		return errClosed()
	}
	if is(err, codes.SQLITE_INTERRUPT) && ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	return explain(doing, db.path, err)
}

func explain(doing, path string, err error) error {
	if _, known := errors.AsType[*parley.Error](err); known ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	trouble := &parley.Error{Code: parley.CodeStoreUnavailable, Err: err}
	switch {
	case is(err, codes.SQLITE_FULL) || errors.Is(err, syscall.ENOSPC):
		trouble.Message = "the disk that holds the store is full"
		trouble.Hint = fmt.Sprintf("Make room on the disk of %s and try again; what was stored before is safe.", path)
		trouble.Retryable = true
	case is(err, codes.SQLITE_BUSY, codes.SQLITE_LOCKED):
		trouble.Message = "another program kept the store locked for too long"
		trouble.Hint = fmt.Sprintf("Try again; if it goes on, look for a program that has %s open.", path)
		trouble.Retryable = true
	case is(err, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB) || errors.Is(err, errTruncated):
		trouble.Message = fmt.Sprintf("the store %s is damaged; nothing was overwritten", path)
		trouble.Hint = fmt.Sprintf("Move it aside together with its -wal and -shm files, then restore a backup or save what is readable with `sqlite3 %s .recover`.", path)
	case errors.Is(err, errForeign):
		trouble.Message = fmt.Sprintf("%s is a database, but not a parley store; nothing was changed", path)
		trouble.Hint = "Point PARLEY_HOME at another folder, or move that file aside."
	case is(err, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM) ||
		errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR):
		trouble.Message = fmt.Sprintf("the store %s cannot be written", path)
		trouble.Hint = "Check who owns the file and its folder and that neither is read-only, or point PARLEY_HOME at a folder you can write to."
	case is(err, codes.SQLITE_IOERR):
		trouble.Message = fmt.Sprintf("reading or writing the store %s failed", path)
		trouble.Hint = "Check the disk; a store on a network file system is not supported."
	default:
		return err
	}
	return trouble
}

// is reports whether err carries one of SQLite's primary result codes.
func is(err error, primary ...int) bool {
	failed, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return false
	}
	for _, code := range primary {
		if failed.Code()&0xff == code {
			return true
		}
	}
	return false
}

// fatal reports whether err concerns the whole transaction: SQLite may have
// rolled it back already, and what follows would not be part of it.
func fatal(err error) bool {
	return is(err, codes.SQLITE_FULL, codes.SQLITE_IOERR, codes.SQLITE_NOMEM, codes.SQLITE_BUSY, codes.SQLITE_LOCKED,
		codes.SQLITE_INTERRUPT, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_ABORT)
}

func errClosed() *parley.Error {
	return &parley.Error{Code: parley.CodeStoreUnavailable, Message: "the store is closed"}
}

func threadNotFound(id string) *parley.Error {
	return notFound(parley.CodeContinuationNotFound, "thread", id).
		WithHint("check_status without an id shows the recent runs, `parley threads list` the threads. To begin a new thread, name none.")
}

func runNotFound(id string) *parley.Error {
	return notFound(parley.CodeRunNotFound, "run", id).
		WithHint("Runs are kept for three days after they end; `parley runs list` shows the ones there are.")
}

// notFound repeats an id only if it could be one: the message goes to a model.
func notFound(code parley.Code, kind, id string) *parley.Error {
	if !parley.ValidID(id) {
		return parley.Errorf(code, "there is no such %s", kind)
	}
	return parley.Errorf(code, "there is no %s %s", kind, id)
}
