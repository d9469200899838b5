package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"parley"
)

// list finds out which files a spec means.
func (c *call) list(spec string) {
	if code, why := c.refused(spec); code != "" {
		c.problems.addf(spec, code, "%s", why)
		return
	}
	// A name that exists wins over what its braces or stars may mean.
	if c.listNamed(spec, spec, nil) {
		return
	}
	name, text, hasRanges := cutRanges(spec)
	var ranges []Range
	if hasRanges {
		var err error
		if ranges, err = parseRanges(text); err != nil {
			c.problems.addf(spec, parley.CodeInvalidArgument, "%s", err)
			return
		}
		if c.listNamed(spec, name, ranges) {
			return
		}
	}
	if isPattern(name) {
		c.listPattern(spec, name, ranges)
		return
	}
	if c.places(name) == nil {
		c.problems.addf(spec, parley.CodeFileAccessDenied, outside)
		return
	}
	c.problems.addf(spec, errGone.code, "%s", errGone.why)
}

// listNamed lists the file or folder of that name and is false if there is none.
func (c *call) listNamed(spec, name string, ranges []Range) bool {
	found, infos, err := c.exists(c.places(name))
	if len(found) == 0 {
		if err != nil {
			f := faultOf(err)
			c.problems.addf(spec, f.code, "%s", f.why)
		}
		return err != nil
	}
	if slices.ContainsFunc(found, func(p place) bool { return c.abs(p) != c.abs(found[0]) }) {
		c.problems.addf(spec, parley.CodeInvalidArgument, "it is in several of the roots; name it by its whole path")
		return true
	}
	p, info := found[0], infos[0]
	if info.IsDir() {
		if ranges != nil {
			c.problems.addf(spec, parley.CodeInvalidArgument, "lines are picked from files, and this is a folder")
			return true
		}
		before := len(c.wanted) + c.skips.total
		c.walkFrom(&walk{spec: spec}, p)
		if len(c.wanted)+c.skips.total == before {
			c.skips.add(p.rel+"/", "nothing in it to read")
		}
		return true
	}
	if f := c.checkNamed(name, p, info, c.r.o.MaxText); f != nil {
		c.problems.addf(spec, f.code, "%s", f.why)
		return true
	}
	c.want(wanted{place: p, spec: spec, whole: ranges == nil, ranges: ranges, info: info})
	return true
}

func (c *call) listPattern(spec, name string, ranges []Range) {
	if runtime.GOOS == "windows" {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	dir, rest := fixedPart(name)
	places := c.places(dir)
	if places == nil {
		c.problems.addf(spec, parley.CodeFileAccessDenied, outside)
		return
	}
	if slices.Contains(rest, "..") {
		c.problems.addf(spec, parley.CodeInvalidArgument, "a pattern cannot go up with ..")
		return
	}
	found, infos, err := c.exists(places)
	if len(found) == 0 && err != nil {
		f := faultOf(err)
		c.problems.addf(spec, f.code, "%s", f.why)
		return
	}
	before := len(c.wanted)
	w := &walk{spec: spec, pattern: rest, ranges: ranges}
	w.hidden = slices.ContainsFunc(rest, func(part string) bool { return strings.HasPrefix(part, ".") })
	for i, p := range found {
		if infos[i].IsDir() {
			c.walkFrom(w, p)
		}
	}
	if len(c.wanted) == before && w.matched == 0 {
		c.problems.addf(spec, parley.CodeFileNotFound, "no file matches it")
	}
}

// want notes a file, or adds to one that is noted already. Names that differ in
// case only may be one file.
func (c *call) want(w wanted) {
	key := strings.ToLower(c.abs(w.place))
	for _, have := range c.byPath[key] {
		if c.abs(have.place) != c.abs(w.place) && !os.SameFile(have.info, w.info) {
			continue
		}
		have.whole = have.whole || w.whole
		have.ranges = append(have.ranges, w.ranges...)
		if have.spec == "" {
			have.spec = w.spec
		}
		return
	}
	c.byPath[key] = append(c.byPath[key], &w)
	c.wanted = append(c.wanted, &w)
}

// walk is one folder or pattern.
type walk struct {
	spec    string
	pattern []string // none: everything
	ranges  []Range
	hidden  bool // names that begin with a dot too
	matched int
}

// mostVisited bounds a walk: a root may hold millions of files.
const mostVisited = 200_000

// mostDeep bounds the recursion.
const mostDeep = 128

func (c *call) walkFrom(w *walk, base place) {
	dir := split(base.rel)
	lists := []ignore{c.ignoreFile(base.root, nil, ".git/info/exclude")}
	for i := range dir {
		lists = append(lists, c.ignoreFile(base.root, dir[:i], ".gitignore"))
	}
	c.walkDir(w, base.root, dir, len(dir), lists)
}

func split(rel string) []string {
	if rel == "." || rel == "" {
		return nil
	}
	return strings.Split(rel, "/")
}

func joined(parts []string) string { return path.Join(append([]string{"."}, parts...)...) }

// ignoreFile reads a .gitignore if there is a regular one.
func (c *call) ignoreFile(root int, dir []string, name string) ignore {
	p := place{root, joined(append(slices.Clone(dir), name))}
	info, err := c.roots[root].Lstat(p.rel)
	if err != nil || c.check(p, info, c.r.o.MaxText) != nil {
		return ignore{dir: dir}
	}
	text, _, bad := c.load(p, info, c.r.o.MaxText, func([]byte) *fault { return nil })
	if bad != nil {
		return ignore{dir: dir}
	}
	return parseIgnore(dir, string(text))
}

func (c *call) walkDir(w *walk, root int, dir []string, base int, lists []ignore) {
	names, err := c.names(root, joined(dir))
	if err != nil {
		c.skips.add(joined(dir)+"/", faultOf(err).why)
		return
	}
	lists = append(slices.Clip(lists), c.ignoreFile(root, dir, ".gitignore"))
	for _, name := range names {
		if c.ctx.Err() != nil || c.tooMany(w) {
			return
		}
		parts := append(slices.Clip(dir), name)
		rel := joined(parts)
		info, err := c.roots[root].Lstat(rel)
		if err != nil || name == ".git" {
			continue // it vanished, or is nobody's business
		}
		if info.IsDir() {
			if !w.mayHold(parts[base:]) {
				continue
			}
			if why := w.dirRefusal(name, ignored(lists, parts, true)); why != "" {
				c.skips.add(rel+"/", why)
			} else if len(parts) < mostDeep {
				c.walkDir(w, root, parts, base, lists)
			}
			continue
		}
		if w.pattern != nil && !matchPath(w.pattern, parts[base:]) {
			continue
		}
		w.matched++
		c.visitFile(w, place{root, rel}, name, info, ignored(lists, parts, false))
	}
}

func (c *call) visitFile(w *walk, p place, name string, info fs.FileInfo, ignored bool) {
	why := ""
	switch f := c.check(p, info, c.r.o.MaxText); {
	case info.Mode()&fs.ModeSymlink != 0:
		why = "a symbolic link"
	case strings.HasPrefix(name, ".") && !w.hidden:
		why = "hidden"
	case ignored:
		why = "ignored by .gitignore"
	case f == errKey:
		why = "a key or .env file"
	case f != nil:
		why = f.why
	case binaryName(name):
		why = errBinary.why
	}
	if why != "" {
		c.skips.add(p.rel, why)
		return
	}
	c.want(wanted{place: p, whole: w.ranges == nil, ranges: w.ranges, info: info})
}

// tooMany stops a walk that has seen more than anyone can mean.
func (c *call) tooMany(w *walk) bool {
	c.visited++
	if c.visited == mostVisited {
		c.problems.addf(w.spec, parley.CodeFileTooLarge, "more than %d files and folders to look at; name a smaller folder", mostVisited)
	}
	return c.visited >= mostVisited
}

// mayHold tells whether a folder can hold a match of the pattern.
func (w *walk) mayHold(dir []string) bool {
	if w.pattern == nil {
		return true
	}
	for i, part := range dir {
		if i >= len(w.pattern) {
			return false
		}
		if w.pattern[i] == "**" {
			return true
		}
		if !matchName(w.pattern[i], part) {
			return false
		}
	}
	return len(dir) < len(w.pattern)
}

func (w *walk) dirRefusal(name string, ignored bool) string {
	switch {
	case strings.HasPrefix(name, ".") && !w.hidden:
		return "hidden"
	case generated[strings.ToLower(name)]:
		return "generated or foreign code"
	case ignored:
		return "ignored by .gitignore"
	}
	return ""
}

// names lists a folder, sorted. Entries are looked at through the root
// afterwards: what a directory entry itself says of them may lie outside.
func (c *call) names(root int, rel string) ([]string, error) {
	f, err := c.roots[root].OpenFile(rel, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var names []string
	for len(names) <= mostVisited && c.ctx.Err() == nil {
		some, err := f.Readdirnames(1024)
		names = append(names, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// generated are folders whose contents nobody wrote, or not in this project.
var generated = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, "vendor": true,
	"dist": true, "build": true, "target": true, "out": true, "obj": true, "_build": true,
	"__pycache__": true, "venv": true, "site-packages": true, "htmlcov": true, "coverage": true,
	"pods": true, "carthage": true, "deriveddata": true, "elm-stuff": true, "dist-newstyle": true, "zig-out": true, "zig-cache": true,
	"bazel-bin": true, "bazel-out": true, "bazel-testlogs": true, "cmakefiles": true, "storybook-static": true,
}

// binaryName tells by a file's ending that it is no text, to save opening it.
func binaryName(name string) bool {
	return binaryEnds[strings.ToLower(path.Ext(name))]
}

var binaryEnds = func() map[string]bool {
	set := map[string]bool{}
	for end := range strings.FieldsSeq(`.png .jpg .jpeg .gif .webp .bmp .ico .icns .tif .tiff .heic .avif .psd .pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods
		.zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .war .ear .apk .ipa .dmg .iso .deb .rpm .whl .egg .nupkg .so .dylib .dll .exe .o .a .lib .obj .class .pyc .pyo .wasm
		.mp3 .mp4 .m4a .wav .flac .ogg .webm .mov .avi .mkv .ttf .otf .woff .woff2 .eot .db .sqlite .sqlite3 .parquet .npy .npz .pt .onnx .safetensors .gguf .bin`) {
		set[end] = true
	}
	return set
}()
