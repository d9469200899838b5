//go:build !unix

package files

import (
	"errors"
	"io/fs"
)

const openFlags = 0

func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
