package files_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley"
	"parley/files"
	"parley/redact"
)

// project is a root with files in it.
type project struct {
	*files.Reader

	t   *testing.T
	dir string
}

func newProject(t *testing.T, content map[string]string) project {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, content)
	return project{Reader: newReader(t, files.Options{Roots: []string{dir}}), t: t, dir: dir}
}

func newReader(t *testing.T, o files.Options) *files.Reader {
	t.Helper()
	if o.KeyFile == nil {
		o.KeyFile = redact.KeyFile
	}
	r, err := files.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (p project) read(specs ...string) files.Reading {
	p.t.Helper()
	reading, err := p.Read(p.t.Context(), specs)
	if err != nil {
		p.t.Fatalf("Read(%q): %v", specs, err)
	}
	return reading
}

func (p project) one(spec string) files.File {
	p.t.Helper()
	reading := p.read(spec)
	if len(reading.Files) != 1 {
		p.t.Fatalf("Read(%q) has %v", spec, paths(reading))
	}
	return reading.Files[0]
}

func paths(r files.Reading) []string {
	out := []string{}
	for _, f := range r.Files {
		out = append(out, f.Path)
	}
	return out
}

func skipped(r files.Reading) map[string]string {
	out := map[string]string{}
	for _, s := range r.Skipped {
		out[s.Path] = s.Why
	}
	return out
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"src/a.go": "package a\n"})
	for _, spec := range []string{"src/a.go", "./src/a.go", "src/../src/a.go", filepath.Join(p.dir, "src", "a.go")} {
		f := p.one(spec)
		if f.Path != "src/a.go" || f.Text != "package a\n" || f.First != 1 || f.Lines != 1 || f.Size != 10 || f.Ranges != nil || f.ModTime.IsZero() {
			t.Errorf("%s: %+v", spec, f)
		}
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte("package a\n"))); f.SHA256 != want {
			t.Errorf("SHA256 = %q, want %q", f.SHA256, want)
		}
	}
}

func TestReadRanges(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"a.txt": lines(100), "empty": "", "noeol": "x\ny", "a{1:2}.txt": "by name", "b{3}": "by name too", "b": lines(5),
	})
	for spec, want := range map[string]string{
		"a.txt{10:12}":                   "line 10\nline 11\nline 12\n",
		"a.txt{7}":                       "line 7\n",
		"a.txt{:2}":                      "line 1\nline 2\n",
		"a.txt{99:}":                     "line 99\nline 100\n",
		"a.txt{99:500}":                  "line 99\nline 100\n",
		"a.txt{500:600}":                 "line 100\n",
		"a.txt{1:2,5:6}":                 "line 1\nline 2\n[… lines 3 to 4 left out …]\nline 5\nline 6\n",
		"a.txt{5:6, 1:2}":                "line 1\nline 2\n[… lines 3 to 4 left out …]\nline 5\nline 6\n",
		"a.txt{1,3}":                     "line 1\n[… line 2 left out …]\nline 3\n",
		"a.txt{1:3,2:4,5}":               "line 1\nline 2\nline 3\nline 4\nline 5\n",
		"a.txt{99:99999999999999999999}": "line 99\nline 100\n",
		"empty{1:5}":                     "",
		"noeol{2}":                       "y\n",
		"a{1:2}.txt":                     "by name",
		"b{3}":                           "by name too",
		"b{4}":                           "line 4\n",
	} {
		if got := p.one(spec).Text; got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
	for _, spec := range []string{"a.txt{}", "a.txt{:}", "a.txt{x}", "a.txt{5:2}", "a.txt{0}", "a.txt{0:3}", "a.txt{-1}", "a.txt{1:2:3}", "a.txt{1,}", "a.txt{1-5}", ".{1:2}", "*.{txt,md}", "a.txt{1:２}"} {
		_, err := p.Read(t.Context(), []string{spec})
		if parley.ErrorCode(err) != parley.CodeInvalidArgument || !strings.Contains(err.Error(), spec) {
			t.Errorf("%s: got %v", spec, err)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"a.txt": lines(20000), "empty": ""})
	for spec, want := range map[string]string{
		"a.txt{9:10}":       "   9│ line 9\n  10│ line 10\n",
		"a.txt{1,3}":        "   1│ line 1\n    │ [… line 2 left out …]\n   3│ line 3\n",
		"a.txt{9999:10000}": " 9999│ line 9999\n10000│ line 10000\n",
		"empty":             "",
	} {
		if got := files.Number(p.one(spec)); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
	if got := files.Number(p.one("a.txt")); !strings.HasPrefix(got, "    1│ line 1\n") || !strings.HasSuffix(got, "20000│ line 20000\n") {
		t.Errorf("got %.40q", got)
	}
}

func TestDuplicatesAreOneFile(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"a.txt": lines(10), "d/b.txt": "b"})
	if got := p.read("a.txt{1:2}", "a.txt{2:3}", "./a.txt{9}"); len(got.Files) != 1 || !slices.Equal(got.Files[0].Ranges, []files.Range{{1, 3}, {9, 9}}) {
		t.Errorf("got %+v", got.Files)
	}
	if got := p.read("a.txt{1:2}", "."); !slices.Equal(paths(got), []string{"a.txt", "d/b.txt"}) || got.Files[0].Ranges != nil {
		t.Errorf("got %+v", got.Files)
	}
	if err := os.Symlink("a.txt", filepath.Join(p.dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	if got := p.read("a.txt", "link.txt"); !slices.Equal(paths(got), []string{"a.txt"}) {
		t.Errorf("got %v", paths(got))
	}
}

func TestReadFolder(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"main.go": "package main", "lib/b.go": "b", "lib/a.go": "a", "lib/deep/er/c.go": "c", "README.md": "r",
		"node_modules/x/index.js": "x", "lib/__pycache__/a.pyc": "x", "build/out.js": "x", ".git/config": "x", ".github/w.yml": "x", ".hidden": "x",
		"picture.png": "\x89PNG\r\n\x1a\n", "blob": "a\x00b", "big.txt": strings.Repeat("x", 1<<20+1), ".env": "K=1", "server.key": "k", "notes.txt": "AGE-SECRET-" + "KEY-1QQ\n",
		".gitignore": "*.log\n/tmp/\n!keep.log\n", "a.log": "x", "keep.log": "k", "tmp/x": "x", "lib/tmp/y": "y", "lib/.gitignore": "gen_*\n!*.log\n", "lib/gen_x.go": "x", "lib/b.log": "kept",
	})
	if err := os.Symlink("main.go", filepath.Join(p.dir, "link.go")); err != nil {
		t.Skip(err)
	}
	got := p.read(".")
	want := []string{"README.md", "keep.log", "lib/a.go", "lib/b.go", "lib/b.log", "lib/deep/er/c.go", "lib/tmp/y", "main.go"}
	if !slices.Equal(paths(got), want) {
		t.Errorf("got %v, want %v", paths(got), want)
	}
	why := skipped(got)
	for path, part := range map[string]string{
		"node_modules/": "generated", "lib/__pycache__/": "generated", "build/": "generated", ".github/": "hidden", ".hidden": "hidden",
		"picture.png": "not a text", "blob": "not a text", "big.txt": "1.0 MB", "server.key": "key", "notes.txt": "key", ".env": "hidden",
		"a.log": ".gitignore", "tmp/": ".gitignore", "lib/gen_x.go": ".gitignore", "link.go": "link",
	} {
		if !strings.Contains(why[path], part) {
			t.Errorf("%s was skipped because %q, want %q", path, why[path], part)
		}
	}
	if _, ok := why[".git/"]; ok {
		t.Error(".git is nobody's business")
	}
	// What is named by itself is wanted.
	if got := paths(p.read("build", "node_modules/x", ".github", "a.log", ".hidden")); !slices.Equal(got, []string{"build/out.js", "node_modules/x/index.js", ".github/w.yml", "a.log", ".hidden"}) {
		t.Errorf("got %v", got)
	}
	if got := p.read("lib"); !slices.Equal(paths(got), want[2:7]) {
		t.Errorf("lib: %v", paths(got))
	}
}

func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"d/e/.keep": ""})
	got := p.read("d/e")
	if len(got.Files) != 0 || len(got.Skipped) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestManySkipsAreCounted(t *testing.T) {
	t.Parallel()
	content := map[string]string{"a.txt": "a"}
	for i := range 100 {
		content[fmt.Sprintf("p%03d.png", i)] = ""
	}
	got := newProject(t, content).read(".")
	last := got.Skipped[len(got.Skipped)-1]
	if len(got.Skipped) != 26 || last.Path != "" || last.Count != 75 {
		t.Errorf("%d skips, the last is %+v", len(got.Skipped), last)
	}
}

func TestReadPattern(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"a.go": "1", "b.go": "2", "c.txt": "3", "x/a.go": "4", "x/y/b.go": "5", "x/y/c.txt": "6", "vendor/v.go": "7", ".github/a.yml": "8", "x/[1].go": "9",
	})
	for spec, want := range map[string][]string{
		"*.go":                             {"a.go", "b.go"},
		"**/*.go":                          {"a.go", "b.go", "x/[1].go", "x/a.go", "x/y/b.go"},
		"x/**":                             {"x/[1].go", "x/a.go", "x/y/b.go", "x/y/c.txt"},
		"x/**/*.txt":                       {"x/y/c.txt"},
		"?.txt":                            {"c.txt"},
		"[ab].go":                          {"a.go", "b.go"},
		"[!a].go":                          {"b.go"},
		"*/*.go":                           {"x/[1].go", "x/a.go"},
		"vendor/*.go":                      {"vendor/v.go"},
		".github/*.yml":                    {".github/a.yml"},
		"**/.github/*.yml":                 {".github/a.yml"},
		"x/[1].go":                         {"x/[1].go"},
		"./x/*/b.go":                       {"x/y/b.go"},
		filepath.ToSlash(p.dir) + "/*.txt": {"c.txt"},
		"a.g*{1}":                          {"a.go"},
	} {
		if got := paths(p.read(spec)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", spec, got, want)
		}
	}
	for spec, want := range map[string]parley.Code{
		"*.rs": parley.CodeFileNotFound, "nowhere/*.go": parley.CodeFileNotFound, "/etc/*": parley.CodeFileAccessDenied,
		"../*": parley.CodeFileAccessDenied, "x/*/../../*": parley.CodeInvalidArgument,
	} {
		if _, err := p.Read(t.Context(), []string{spec}); parley.ErrorCode(err) != want {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
}

func TestSeveralRoots(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	write(t, a, map[string]string{"both.txt": "a", "only-a.txt": "a"})
	write(t, b, map[string]string{"both.txt": "b", "only-b.txt": "b"})
	r := newReader(t, files.Options{Roots: []string{a, b, a}})
	got, err := r.Read(t.Context(), []string{"only-b.txt", "only-a.txt", filepath.Join(b, "both.txt"), "only*"})
	if err != nil || !slices.Equal(paths(got), []string{"only-b.txt", "only-a.txt", "both.txt"}) || got.Files[2].Text != "b" {
		t.Errorf("got %v, %v", paths(got), err)
	}
	if _, err := r.Read(t.Context(), []string{"both.txt"}); parley.ErrorCode(err) != parley.CodeInvalidArgument {
		t.Errorf("in both: %v", err)
	}
	if _, err := r.Read(t.Context(), []string{"neither.txt"}); parley.ErrorCode(err) != parley.CodeFileNotFound {
		t.Errorf("in neither: %v", err)
	}
	// A link from one root into another stays inside.
	if err := os.Symlink(filepath.Join(b, "only-b.txt"), filepath.Join(a, "link.txt")); err != nil {
		t.Skip(err)
	}
	got, err = r.Read(t.Context(), []string{"link.txt"})
	if err != nil || got.Files[0].Text != "b" || got.Files[0].Path != "only-b.txt" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRootByAnotherName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"real/a.txt": "a"})
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Skip(err)
	}
	for _, root := range []string{link, filepath.Join(dir, "real")} {
		r := newReader(t, files.Options{Roots: []string{root}})
		for _, spec := range []string{"a.txt", filepath.Join(link, "a.txt"), filepath.Join(dir, "real", "a.txt"), filepath.ToSlash(link) + "/*"} {
			if got, err := r.Read(t.Context(), []string{spec}); err != nil || len(got.Files) != 1 {
				t.Errorf("root %s, %s: %v", root, spec, err)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"a": "12345", "b": "12345", "c": "12345", "d/e": "1"})
	for name, c := range map[string]struct {
		o     files.Options
		specs []string
		want  parley.Code
	}{
		"files in a folder": {files.Options{MaxFiles: 3}, []string{"."}, parley.CodeFileTooLarge},
		"files named":       {files.Options{MaxFiles: 2}, []string{"a", "b", "c"}, parley.CodeFileTooLarge},
		"just enough":       {files.Options{MaxFiles: 4}, []string{"."}, ""},
		"one too large":     {files.Options{MaxText: 4}, []string{"a"}, parley.CodeFileTooLarge},
		"one fits":          {files.Options{MaxText: 5}, []string{"a"}, ""},
		"together":          {files.Options{MaxTotal: 9}, []string{"a", "b"}, parley.CodeFileTooLarge},
	} {
		c.o.Roots = []string{p.dir}
		if _, err := newReader(t, c.o).Read(t.Context(), c.specs); parley.ErrorCode(err) != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestNewRefusesBadRoots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": ""})
	for _, root := range []string{"", filepath.Join(dir, "missing"), filepath.Join(dir, "file")} {
		if _, err := files.New(files.Options{Roots: []string{root}}); parley.ErrorCode(err) != parley.CodeInvalidArgument {
			t.Errorf("%q: %v", root, err)
		}
	}
}

func TestNoRoots(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	write(t, home, map[string]string{"a.txt": "a"})
	top := filepath.VolumeName(home) + string(filepath.Separator)
	for name, roots := range map[string][]string{"none": nil, "home": {home}, "top": {top}} {
		r := newReader(t, files.Options{Roots: roots})
		_, err := r.Read(t.Context(), []string{filepath.Join(home, "a.txt")})
		e := parley.AsError(err)
		if e == nil || e.Code != parley.CodeFileAccessDenied || !strings.Contains(e.Hint, "--root") || !strings.Contains(e.Message, "no folder may be read") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Images(t.Context(), []string{"a.png"}); parley.ErrorCode(err) != parley.CodeFileAccessDenied {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := r.Read(t.Context(), nil); err != nil || got.Files != nil {
			t.Errorf("%s: nothing asked: %v, %v", name, got, err)
		}
	}
}

func TestAllProblemsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{".env": "SECRET=very-secret", "ok.txt": "ok", "bin": "\x00"})
	specs := []string{"ok.txt", "missing.txt", ".env", "../up", "ok.txt{x}"}
	_, err := p.Read(t.Context(), specs)
	e := parley.AsError(err)
	if e == nil || e.Code != parley.CodeFileAccessDenied || strings.Contains(e.Message, "very-secret") {
		t.Fatalf("got %v", err)
	}
	for _, spec := range specs[1:] {
		if !strings.Contains(e.Message, spec) {
			t.Errorf("%s is not named in %s", spec, e.Message)
		}
	}
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf("m%d%s\n", i, strings.Repeat("y", 3000)))
	}
	_, err = p.Read(t.Context(), many)
	if msg := err.Error(); len(msg) > 20*400 || !strings.Contains(msg, "480 more") {
		t.Errorf("a message of %d bytes: %.300s", len(msg), msg)
	}
}

func TestCancelledRead(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Read(ctx, []string{"."}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Images(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestMaskSeesTheWholeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "one\ntop secret\nthree\n"})
	r := newReader(t, files.Options{Roots: []string{dir}, Mask: func(text string) (string, int, []string) {
		return strings.ReplaceAll(text, "top secret", "***"), 1, []string{"test"}
	}})
	got, err := r.Read(t.Context(), []string{"a.txt{2}"})
	if err != nil || got.Files[0].Text != "***\n" || got.Files[0].Masked != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const want = "Grüße – 5 €\nzwei\n"
	western := "Gr\xfc\xdfe \x96 5 \x80\r\nzwei\r\n"
	utf16 := func(big bool) string {
		out := []byte{0xff, 0xfe}
		if big {
			out = []byte{0xfe, 0xff}
		}
		for _, r := range strings.ReplaceAll(want, "\n", "\r\n") {
			if big {
				out = append(out, byte(r>>8), byte(r))
			} else {
				out = append(out, byte(r), byte(r>>8))
			}
		}
		return string(out)
	}
	p := newProject(t, map[string]string{
		"utf8": want, "bom": "\xef\xbb\xbf" + want, "crlf": strings.ReplaceAll(want, "\n", "\r\n"), "cr": strings.ReplaceAll(want, "\n", "\r"),
		"le": utf16(false), "be": utf16(true), "western": western,
		"key16": "\xff\xfe" + wide("-----BEGIN OPENSSH "+"PRIVATE KEY-----\n"),
		"utf32": "\xff\xfe\x00\x00a\x00\x00\x00", "nul": "text\x00text", "late": strings.Repeat("x", 100_000) + "\x00", "pdf": "%PDF-1.7\n", "noise": "\x80\x81\x8d\x90" + strings.Repeat("\xff", 50),
		"control": "abc\x01\xe4\x02", "mostly high": strings.Repeat("\xe4", 10) + "abc",
	})
	for _, name := range []string{"utf8", "bom", "crlf", "cr", "le", "be", "western"} {
		if f := p.one(name); f.Text != want || f.Lines != 2 {
			t.Errorf("%s: %q, %d lines", name, f.Text, f.Lines)
		}
	}
	for _, name := range []string{"utf32", "nul", "late", "pdf", "noise", "control", "mostly high"} {
		if _, err := p.Read(t.Context(), []string{name}); parley.ErrorCode(err) != parley.CodeUnsupportedFile {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Read(t.Context(), []string{"key16"}); parley.ErrorCode(err) != parley.CodeFileAccessDenied {
		t.Errorf("key16: %v", err)
	}
}

func wide(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(0)
	}
	return b.String()
}

// TestVanishedFiles removes files between the listing and the reading: KeyFile
// is asked about each name in between.
func TestVanishedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/a.txt": "a", "d/b.txt": "b"})
	r := newReader(t, files.Options{Roots: []string{dir}, KeyFile: func(name string, _ []byte) bool {
		if strings.HasSuffix(name, "b.txt") {
			_ = os.Remove(name)
		}
		return false
	}})
	got, err := r.Read(t.Context(), []string{"d"})
	if err != nil || !slices.Equal(paths(got), []string{"d/a.txt"}) || len(got.Skipped) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	write(t, dir, map[string]string{"d/b.txt": "b"})
	if _, err := r.Read(t.Context(), []string{"d/b.txt"}); parley.ErrorCode(err) != parley.CodeFileNotFound {
		t.Errorf("named: %v", err)
	}
}

// TestSwappedFile puts another file in the place of one that was looked at.
func TestSwappedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "harmless", "other": "another file's"})
	r := newReader(t, files.Options{Roots: []string{dir}, KeyFile: func(name string, head []byte) bool {
		if strings.HasSuffix(name, "a.txt") && head == nil {
			_ = os.Rename(filepath.Join(dir, "other"), name)
		}
		return false
	}})
	if got, err := r.Read(t.Context(), []string{"a.txt"}); parley.ErrorCode(err) != parley.CodeFileNotFound {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestGrowingFile makes a file longer while it is being read.
func TestGrowingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": strings.Repeat("x", 70<<10)})
	r := newReader(t, files.Options{Roots: []string{dir}, MaxText: 80 << 10, KeyFile: func(name string, head []byte) bool {
		if head != nil {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = f.WriteString(strings.Repeat("y", 1<<20))
				_ = f.Close()
			}
		}
		return false
	}})
	if _, err := r.Read(t.Context(), []string{"a.txt"}); parley.ErrorCode(err) != parley.CodeFileTooLarge {
		t.Errorf("got %v", err)
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "files")
	defer func() { _ = os.RemoveAll(dir) }()
	_ = os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\nfour\n"), 0o600)

	r, _ := files.New(files.Options{Roots: []string{dir}, KeyFile: redact.KeyFile})
	reading, _ := r.Read(context.Background(), []string{"a.txt{1,3:}"})
	fmt.Print(files.Number(reading.Files[0]))
	// Output:
	//    1│ one
	//     │ [… line 2 left out …]
	//    3│ three
	//    4│ four
}
