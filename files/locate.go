package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"parley"
)

// call is one Read or Images: the roots are open while it lasts.
type call struct {
	ctx      context.Context //nolint:containedctx // a call is as short as the function that made it
	r        *Reader
	roots    []*os.Root
	problems problems
	wanted   []*wanted
	byPath   map[string][]*wanted
	skips    skips
	visited  int
}

// place is a path inside a root, with forward slashes; "." is the root itself.
type place struct {
	root int
	rel  string
}

// wanted is a file that will be read.
type wanted struct {
	place

	spec   string // as it was named; empty: a folder or pattern brought it
	whole  bool
	ranges []Range
	info   fs.FileInfo
}

func (r *Reader) open(ctx context.Context) (*call, error) {
	c := &call{ctx: ctx, r: r, byPath: map[string][]*wanted{}}
	for _, root := range r.roots {
		opened, err := os.OpenRoot(root.real)
		if err != nil {
			c.close()
			return nil, parley.Errorf(parley.CodeFileNotFound, "the root %s cannot be opened: %w", shown(root.real), cause(err)).
				WithHint("The folder may have been moved or deleted; start parley again with --root DIR.")
		}
		c.roots = append(c.roots, opened)
	}
	return c, nil
}

func (c *call) close() {
	for _, root := range c.roots {
		_ = root.Close()
	}
}

// abs is a place's path for the operating system.
func (c *call) abs(p place) string {
	return filepath.Join(c.r.roots[p.root].real, filepath.FromSlash(p.rel))
}

// refused tells why a path is not even looked for.
func (c *call) refused(name string) (code parley.Code, why string) {
	switch {
	case strings.TrimSpace(name) == "":
		return parley.CodeInvalidArgument, "an empty path"
	case strings.ContainsRune(name, 0):
		return parley.CodeInvalidArgument, "a path cannot hold a zero byte"
	case len(name) > 4096:
		return parley.CodeInvalidArgument, "longer than any path"
	case len(c.r.roots) == 0:
		return parley.CodeFileAccessDenied, "no folder may be read: " + c.r.because
	}
	if runtime.GOOS == "windows" {
		if why := windowsRefusal(name); why != "" {
			return parley.CodeFileAccessDenied, why
		}
	}
	return "", ""
}

const outside = "outside the folders that may be read"

// places returns where a path may lie: in the root that holds it, or for a
// relative one in every root. None: it is outside of all.
func (c *call) places(name string) []place {
	if runtime.GOOS == "windows" {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	if !filepath.IsAbs(filepath.FromSlash(name)) {
		rel := path.Clean(name)
		if !filepath.IsLocal(filepath.FromSlash(rel)) {
			return nil
		}
		var out []place
		for i := range c.roots {
			out = append(out, place{i, rel})
		}
		return out
	}
	clean := filepath.Clean(filepath.FromSlash(name))
	if p, ok := c.holder(clean); ok {
		return []place{p}
	}
	// The same folder by another name, as /tmp and /private/tmp. A pattern's
	// fixed part is all that exists of it.
	if resolved, err := filepath.EvalSymlinks(clean); err == nil {
		if p, ok := c.holder(resolved); ok {
			return []place{p}
		}
	}
	return nil
}

// holder returns the innermost root that an absolute path lies in, by name.
func (c *call) holder(abs string) (place, bool) {
	best, found, longest := place{}, false, -1
	for i, root := range c.r.roots {
		for _, top := range []string{root.real, root.given} {
			rel, ok := below(top, abs)
			if ok && len(root.real) > longest {
				best, found, longest = place{i, rel}, true, len(root.real)
			}
		}
	}
	return best, found
}

func below(top, abs string) (rel string, ok bool) {
	rel, err := filepath.Rel(top, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// resolve follows the links on the way to a place, and returns where it really
// lies and what is there. The place is inside a root; a link that leads out of
// all of them is fs.ErrPermission.
func (c *call) resolve(p place) (place, fs.FileInfo, error) {
	_, err := c.roots[p.root].Stat(p.rel)
	if err != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
		return place{}, nil, err
	}
	// Stat also fails for links that lead out, and for absolute ones that lead
	// back in; those are told apart by where they end.
	resolved, evalErr := filepath.EvalSymlinks(c.abs(p))
	if evalErr != nil {
		if err == nil || notThere(err) {
			return place{}, nil, fs.ErrNotExist
		}
		return place{}, nil, errOutside
	}
	end, ok := c.holder(resolved)
	if !ok {
		return place{}, nil, errOutside
	}
	info, err := c.roots[end.root].Lstat(end.rel)
	if err != nil {
		return place{}, nil, err
	}
	return end, info, nil
}

var errOutside = errors.New("a link out of the folders that may be read")

// exists returns the places where something is by that name, with what it is.
// The error is that of a place where there is something that cannot be used.
func (c *call) exists(places []place) (found []place, infos []fs.FileInfo, err error) {
	for _, p := range places {
		end, info, e := c.resolve(p)
		switch {
		case e == nil:
			found, infos = append(found, end), append(infos, info)
		case notThere(e):
		case err == nil:
			err = e
		}
	}
	return found, infos, err
}
