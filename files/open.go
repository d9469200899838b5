package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"parley"
)

// fault is why a file that exists is not read.
type fault struct {
	code parley.Code
	why  string
}

func (f *fault) Error() string { return f.why }

var (
	errKey     = &fault{parley.CodeFileAccessDenied, "a key or .env file, which is never sent"}
	errDenied  = &fault{parley.CodeFileAccessDenied, "the operating system does not let parley read it"}
	errLeaving = &fault{parley.CodeFileAccessDenied, "a link that leads out of the folders that may be read"}
	errGone    = &fault{parley.CodeFileNotFound, "there is no such file"}
	errSwapped = &fault{parley.CodeFileNotFound, "it was replaced while it was being read"}
	errBinary  = &fault{parley.CodeUnsupportedFile, "not a text"}
	errVirtual = &fault{parley.CodeUnsupportedFile, "a file of the kernel's, not of a disk"}
)

// faultOf turns what the operating system says into what the user reads.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	switch {
	case errors.Is(err, errOutside):
		return errLeaving
	case notThere(err):
		return errGone
	case errors.Is(err, fs.ErrPermission):
		return errDenied
	default:
		return &fault{parley.CodeFileAccessDenied, "it cannot be read: " + shown(cause(err).Error())}
	}
}

// kindFault refuses what is not a regular file, by what it is.
func kindFault(mode fs.FileMode) *fault {
	var what string
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "not a regular file"
	}
	return &fault{parley.CodeUnsupportedFile, what}
}

func tooLarge(size, limit int64) *fault {
	if size > limit {
		return &fault{parley.CodeFileTooLarge, fmt.Sprintf("%s, more than the %s that one may have", bytesShown(size), bytesShown(limit))}
	}
	return nil
}

func bytesShown(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// headSize is how much of a file is looked at to tell what it is.
const headSize = 64 << 10

// check refuses a file by what can be known without opening it.
func (c *call) check(p place, info fs.FileInfo, limit int64) *fault {
	if f := kindFault(info.Mode()); f != nil {
		return f
	}
	if c.r.o.KeyFile(filepath.ToSlash(c.abs(p)), nil) {
		return errKey
	}
	return tooLarge(info.Size(), limit)
}

// checkNamed also refuses a link that has the name of a key: what it leads to is
// used as one.
func (c *call) checkNamed(name string, p place, info fs.FileInfo, limit int64) *fault {
	if f := c.check(p, info, limit); f != nil {
		return f
	}
	if name = filepath.FromSlash(name); !filepath.IsAbs(name) {
		name = filepath.Join(c.r.roots[p.root].real, name)
	}
	if c.r.o.KeyFile(filepath.ToSlash(name), nil) {
		return errKey
	}
	return nil
}

// load reads a file that has been checked. What was opened must be what was
// looked at, a regular file, and no longer than the limit however it grows. The
// early test sees the head and may refuse before the rest is read.
func (c *call) load(p place, info fs.FileInfo, limit int64, early func(head []byte) *fault) ([]byte, fs.FileInfo, *fault) {
	f, err := c.roots[p.root].OpenFile(p.rel, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, faultOf(err)
	}
	defer func() { _ = f.Close() }()
	now, err := f.Stat()
	if err != nil {
		return nil, nil, faultOf(err)
	}
	if bad := kindFault(now.Mode()); bad != nil {
		return nil, nil, bad
	}
	if !os.SameFile(info, now) {
		return nil, nil, errSwapped
	}
	if virtual(f) {
		return nil, nil, errVirtual
	}
	if bad := tooLarge(now.Size(), limit); bad != nil {
		return nil, nil, bad
	}
	data := make([]byte, 0, min(now.Size(), limit)+1)
	chunk := make([]byte, headSize)
	for looked := false; ; {
		if c.ctx.Err() != nil {
			return nil, nil, errGone
		}
		n, err := io.ReadFull(f, chunk)
		data = append(data, chunk[:n]...)
		if !looked {
			looked = true
			if c.r.o.KeyFile(filepath.ToSlash(c.abs(p)), data) {
				return nil, nil, errKey
			}
			if bad := early(data); bad != nil {
				return nil, nil, bad
			}
		}
		if bad := tooLarge(int64(len(data)), limit); bad != nil {
			return nil, nil, bad
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return data, now, nil
		}
		if err != nil {
			return nil, nil, faultOf(err)
		}
	}
}
