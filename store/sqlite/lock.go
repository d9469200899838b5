package sqlite

import (
	"context"
	"errors"
	"os"
	"time"
)

// errLocked says that another descriptor holds a conflicting lock. Every other
// error from a lock means that locks do not work on this file system.
var errLocked = errors.New("locked by someone else")

// lockMode is how a file is locked. Locks belong to the open file, not to the
// process, and go with it however the process ends.
type lockMode int

const (
	lockExclusive lockMode = iota
	lockShared
)

// lockFunc takes a lock on a file, or returns errLocked at once.
type lockFunc func(*os.File, lockMode) error

// lockPoll is how often a held lock is tried again. The system call that waits
// cannot be cancelled, so waiting is done here.
const lockPoll = 5 * time.Millisecond

func waitLock(ctx context.Context, f *os.File) error {
	for {
		err := tryLock(f, lockExclusive)
		if !errors.Is(err, errLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}
