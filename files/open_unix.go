//go:build unix

package files

import (
	"errors"
	"io/fs"
	"syscall"
)

// openFlags keep the opening of a pipe that took a file's place from waiting
// for a writer, and a terminal from becoming ours.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// notThere also covers a path that goes through a file as if it were a folder.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
