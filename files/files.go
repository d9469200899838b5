// Package files reads what the user pointed at, and nothing else: texts and
// pictures inside the allowed folders, the roots.
//
//	r, err := files.New(files.Options{Roots: []string{dir}, KeyFile: redact.KeyFile})
//	reading, err := r.Read(ctx, []string{"main.go{10:50}", "docs", "**/*.sql"})
//
// A file named by itself is read or refused with a reason; what a folder or a
// pattern brings along is read or skipped with a reason. Every access goes
// through [os.Root], so that neither "..", nor a symbolic link, nor a race leads
// out of a root, and only regular files are ever opened.
package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley"
)

// Options say what may be read.
type Options struct {
	// Roots are the folders that may be read. They must exist. A root that is
	// the home folder or the top of a file system is left out. With none left
	// every path is refused, with a reason.
	Roots []string
	// MaxText is the most bytes of one text; 0 means 1 MB.
	MaxText int64
	// MaxImage is the most bytes of one picture; 0 means 10 MB.
	MaxImage int64
	// MaxFiles is the most files of one call; 0 means 1,000.
	MaxFiles int
	// MaxTotal is the most bytes of one call's files together; 0 means 64 MB.
	// It protects the memory: a model's context is far smaller.
	MaxTotal int64
	// KeyFile tells whether a file is a secret as a whole. It is asked with the
	// name alone before a file is opened (head is nil), and with its first 64 KB
	// after. The name is the absolute path with forward slashes. Nil: none is.
	KeyFile func(name string, head []byte) bool
	// Mask replaces secrets inside a text. It is given the whole text, before
	// lines are picked, so that no secret is cut in half and missed, and must
	// keep the number of lines. Nil: nothing is masked.
	Mask func(text string) (masked string, count int, kinds []string)
}

// Reader reads inside its roots. It may be used from several goroutines.
type Reader struct {
	o       Options
	roots   []root
	because string        // why there is no root
	decode  chan struct{} // one picture is unpacked at a time: it may take 200 MB
}

// root is an allowed folder: as it was given, and with its links resolved.
type root struct{ given, real string }

// Reading is what the user's words came to.
type Reading struct {
	// Files are in the order in which they were named, those of one folder or
	// pattern sorted by path. None is there twice.
	Files []File
	// Skipped is what a folder or pattern had and was not read.
	Skipped []Skip
}

// File is a text.
type File struct {
	// Path is relative to Root, with forward slashes, links resolved.
	Path string
	Root string
	// Ranges are the lines that were asked for, sorted and apart. None: all.
	Ranges []Range
	// Text is UTF-8 with \n line ends. With several ranges a line that tells
	// what was left out stands between them.
	Text string
	// First is the number of the text's first line; 0 for an empty file.
	First int
	// Lines counts the whole file's.
	Lines int
	Size  int64
	// SHA256 is of the whole file's bytes, in hex.
	SHA256  string
	ModTime time.Time
	// Masked counts the secrets that Options.Mask replaced in the whole file,
	// Kinds says what they were.
	Masked int
	Kinds  []string
}

// Skip is something that was not read.
type Skip struct {
	// Path is relative to its root and ends with a slash if it is a folder. It
	// is empty where Count stands for several that are not named one by one.
	Path string
	Why  string
	// Count is how many files or folders this stands for, at least 1.
	Count int
}

// New checks the roots and returns a Reader for them.
func New(o Options) (*Reader, error) {
	o.MaxText = orDefault(o.MaxText, 1<<20)
	o.MaxImage = orDefault(o.MaxImage, 10<<20)
	o.MaxTotal = orDefault(o.MaxTotal, 64<<20)
	o.MaxFiles = orDefault(o.MaxFiles, 1000)
	if o.KeyFile == nil {
		o.KeyFile = func(string, []byte) bool { return false }
	}
	r := &Reader{o: o, because: "no folder was given", decode: make(chan struct{}, 1)}
	for _, dir := range o.Roots {
		given, resolved, err := openable(dir)
		if err != nil {
			return nil, err
		}
		if why := tooWide(resolved); why != "" {
			r.because = fmt.Sprintf("%s is %s, which is never opened as a whole", shown(dir), why)
			continue
		}
		if !slices.ContainsFunc(r.roots, func(have root) bool { return have.real == resolved }) {
			r.roots = append(r.roots, root{given: given, real: resolved})
		}
	}
	return r, nil
}

func orDefault[T int | int64](n, byDefault T) T {
	if n <= 0 {
		return byDefault
	}
	return n
}

// Roots returns the folders that may be read, links resolved.
func (r *Reader) Roots() []string {
	var out []string
	for _, root := range r.roots {
		out = append(out, root.real)
	}
	return out
}

func openable(dir string) (given, resolved string, err error) {
	bad := func(err error) error {
		return parley.Errorf(parley.CodeInvalidArgument, "the root %s cannot be used: %w", shown(dir), cause(err)).
			WithHint("A root is a folder that exists. Check --root and the working directory.")
	}
	if given, err = filepath.Abs(dir); err != nil || dir == "" {
		return "", "", bad(errors.Join(err, errors.New("not a path")))
	}
	if resolved, err = filepath.EvalSymlinks(given); err != nil {
		return "", "", bad(err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", "", bad(err)
	}
	if !info.IsDir() {
		return "", "", bad(errors.New("not a folder"))
	}
	return given, resolved, nil
}

// tooWide tells why a folder is no root: it holds everything, not a project.
func tooWide(dir string) string {
	if filepath.Dir(dir) == dir {
		return "the top of the file system"
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	if filepath.Clean(home) == dir {
		return "the home folder"
	}
	return ""
}

// Read reads texts. Each spec is a path, path{10:50}, a folder or a pattern;
// absolute, or relative to the root. Either all that was named by itself is
// read, or an error names everything that cannot be.
func (r *Reader) Read(ctx context.Context, specs []string) (Reading, error) {
	c, err := r.open(ctx)
	if err != nil {
		return Reading{}, err
	}
	defer c.close()
	for _, spec := range specs {
		c.list(spec)
		if err := ctx.Err(); err != nil {
			return Reading{}, err
		}
	}
	if err := c.problems.err(c.hint()); err != nil {
		return Reading{}, err
	}
	reading, err := c.readAll()
	if err != nil {
		return Reading{}, err
	}
	if err := c.problems.err(c.hint()); err != nil {
		return Reading{}, err
	}
	return reading, nil
}
