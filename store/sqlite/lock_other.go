//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package sqlite

import (
	"errors"
	"os"
)

// tryLock fails: the lease decides who is alive.
func tryLock(*os.File, lockMode) error { return errors.ErrUnsupported }
