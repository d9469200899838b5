package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"parley"
)

// readAll reads what was listed.
func (c *call) readAll() (Reading, error) {
	var out Reading
	var total int64
	for _, w := range c.wanted {
		if err := c.ctx.Err(); err != nil {
			return Reading{}, err
		}
		if len(out.Files) == c.r.o.MaxFiles {
			return Reading{}, parley.Errorf(parley.CodeFileTooLarge, "%d files were found, and one call may send %d", len(c.wanted), c.r.o.MaxFiles).
				WithHint("Name a smaller folder, a narrower pattern, or the files that matter.")
		}
		f, bad := c.read(w)
		switch {
		case c.ctx.Err() != nil:
			return Reading{}, c.ctx.Err()
		case bad != nil && w.spec != "":
			c.problems.addf(w.spec, bad.code, "%s", bad.why)
		case bad == errKey:
			c.skips.add(w.rel, "a key or .env file")
		case bad != nil:
			c.skips.add(w.rel, bad.why)
		default:
			out.Files = append(out.Files, f)
			total += f.Size
		}
		if total > c.r.o.MaxTotal {
			return Reading{}, tooMuch(c.r.o.MaxTotal)
		}
	}
	out.Skipped = c.skips.all()
	return out, nil
}

func tooMuch(limit int64) error {
	return parley.Errorf(parley.CodeFileTooLarge, "the files of this call have more than %s together", bytesShown(limit)).
		WithHint("Name fewer files, or the lines that matter: path{10:50}.")
}

func (c *call) read(w *wanted) (File, *fault) {
	raw, info, bad := c.load(w.place, w.info, c.r.o.MaxText, func(head []byte) *fault {
		if kind := sniff(head); kind != "" {
			return &fault{parley.CodeUnsupportedFile, fmt.Sprintf("a picture (%s), not a text", kind)}
		}
		if binaryHead(head) {
			return errBinary
		}
		return nil
	})
	if bad != nil {
		return File{}, bad
	}
	text, ok := decode(raw)
	if !ok {
		return File{}, errBinary
	}
	// A key in UTF-16 is a key.
	if c.r.o.KeyFile(filepath.ToSlash(c.abs(w.place)), []byte(text[:min(len(text), headSize)])) {
		return File{}, errKey
	}
	sum := sha256.Sum256(raw)
	f := File{
		Path: w.rel, Root: c.r.roots[w.root].real, Size: int64(len(raw)),
		SHA256: hex.EncodeToString(sum[:]), ModTime: info.ModTime(),
	}
	if c.r.o.Mask != nil {
		text, f.Masked, f.Kinds = c.r.o.Mask(text)
	}
	f.pick(text, w)
	return f, nil
}
