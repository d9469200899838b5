package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"parley"
)

// liveness is what the lock files say about an owner.
type liveness int

const (
	dead liveness = iota
	alive
	// unsure: locks do not work here; the heartbeat decides.
	unsure
)

// leaseMark is the content of the lock file of an owner that could not lock it.
const leaseMark = "lease\n"

// owners tells living processes from dead ones. Each process holds an
// exclusive lock on <dir>/<owner>.lock for as long as it lives; the operating
// system lets go of it even after kill -9, and does not while a laptop sleeps.
type owners struct {
	dir  string
	self string
	file *os.File
	// try is tryLock, or a test's.
	try lockFunc
}

func (o *owners) path(owner string) string { return filepath.Join(o.dir, owner+".lock") }

// join makes this process known as alive.
func (o *owners) join(ctx context.Context) error {
	for {
		f, err := createPrivate(o.path(o.self))
		if err != nil {
			return fmt.Errorf("create owner file: %w", err)
		}
		switch err := waitOwn(ctx, f, o.try); {
		case ctx.Err() != nil:
			_ = f.Close()
			_ = os.Remove(o.path(o.self))
			return ctx.Err()
		case err != nil:
			if _, err := f.WriteString(leaseMark); err != nil {
				_ = f.Close()
				return fmt.Errorf("mark owner file: %w", err)
			}
		}
		// A sweep in another process may have taken the file for a dead
		// owner's between its creation and its lock.
		if sameFile(f, o.path(o.self)) {
			o.file = f
			return nil
		}
		_ = f.Close()
	}
}

// waitOwn waits out a probe of the new file, which holds it for a moment only.
func waitOwn(ctx context.Context, f *os.File, try lockFunc) error {
	if err := try(f, lockExclusive); !errors.Is(err, errLocked) {
		return err
	}
	return waitLock(ctx, f)
}

// leave removes the lock file, and with it the owner's life.
func (o *owners) leave() error { return removeLocked(o.file, o.path(o.self)) }

// state probes with a shared lock, so that two probes do not take each other
// for the owner.
func (o *owners) state(owner string) liveness {
	switch {
	case owner == "":
		return dead
	case owner == o.self:
		return alive
	case !parley.ValidID(owner):
		return unsure
	}
	f, err := os.OpenFile(o.path(owner), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return dead
	}
	if err != nil {
		return unsure
	}
	defer func() { _ = f.Close() }()
	return o.probe(f, lockShared)
}

// probe leaves f locked if it returns dead.
func (o *owners) probe(f *os.File, mode lockMode) liveness {
	switch err := o.try(f, mode); {
	case errors.Is(err, errLocked):
		return alive
	case err != nil:
		return unsure
	}
	if mark, err := io.ReadAll(io.LimitReader(f, int64(len(leaseMark)))); err != nil || len(mark) > 0 {
		return unsure
	}
	return dead
}

// sweep removes the lock files of dead owners, except those that keep names.
func (o *owners) sweep(keep map[string]bool) error {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return fmt.Errorf("list owners: %w", err)
	}
	for _, entry := range entries {
		owner, isLock := strings.CutSuffix(entry.Name(), ".lock")
		if !isLock || owner == o.self || keep[owner] {
			continue
		}
		f, err := os.OpenFile(o.path(owner), os.O_RDWR, 0)
		if err != nil {
			continue // someone else swept it
		}
		if o.probe(f, lockExclusive) == dead {
			_ = removeLocked(f, o.path(owner))
		} else {
			_ = f.Close()
		}
	}
	return nil
}

// removeLocked removes a file while its lock is held, so that nobody can have
// taken it in between. Windows does not remove open files; there the file of a
// newborn owner is open too and just as safe.
func removeLocked(f *os.File, path string) error {
	first := os.Remove(path)
	closed := f.Close()
	if first != nil {
		first = os.Remove(path)
	}
	if errors.Is(first, os.ErrNotExist) {
		first = nil
	}
	return errors.Join(first, closed)
}

func sameFile(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}
