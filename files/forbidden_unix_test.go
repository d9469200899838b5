//go:build unix

package files_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"parley"
	"parley/files"
)

// forbidden are things that must not be read, with the code that says so. Add a
// line for every way in that you can think of. Each spec is also tried as a
// picture. %R is the root, %O a folder outside; all files hold the word CANARY.
var forbidden = []struct {
	name, spec string
	code       parley.Code
}{
	{"parent", "../outside/secret.txt", parley.CodeFileAccessDenied},
	{"parent inside", "dir/../../outside/secret.txt", parley.CodeFileAccessDenied},
	{"parent of the root", "..", parley.CodeFileAccessDenied},
	{"parent, absolute", "%R/../outside/secret.txt", parley.CodeFileAccessDenied},
	{"absolute", "%O/secret.txt", parley.CodeFileAccessDenied},
	{"absolute, missing", "%O/missing.txt", parley.CodeFileAccessDenied},
	{"absolute folder", "%O", parley.CodeFileAccessDenied},
	{"absolute pattern", "%O/*", parley.CodeFileAccessDenied},
	{"a root's name as prefix", "%R-sibling/secret.txt", parley.CodeFileAccessDenied},
	{"passwd", "/etc/passwd", parley.CodeFileAccessDenied},
	{"proc", "/proc/self/environ", parley.CodeFileAccessDenied},
	{"proc root", "/proc/self/root/etc/passwd", parley.CodeFileAccessDenied},
	{"dev", "/dev/zero", parley.CodeFileAccessDenied},
	{"stdin", "/dev/stdin", parley.CodeFileAccessDenied},
	{"home", "~/secret.txt", parley.CodeFileNotFound},
	{"link out", "link-out.txt", parley.CodeFileAccessDenied},
	{"link out, relative", "link-rel.txt", parley.CodeFileAccessDenied},
	{"link out, dangling", "link-dangling", parley.CodeFileAccessDenied},
	{"link out, folder", "link-dir", parley.CodeFileAccessDenied},
	{"through a link out", "link-dir/secret.txt", parley.CodeFileAccessDenied},
	{"pattern through a link out", "link-dir/*", parley.CodeFileAccessDenied},
	{"link to a link out", "link-link", parley.CodeFileAccessDenied},
	{"link to /dev/zero", "link-zero", parley.CodeFileAccessDenied},
	{"link to /proc", "link-proc", parley.CodeFileAccessDenied},
	{"link to itself", "link-loop", parley.CodeFileAccessDenied},
	{"link to a key", "link-key.txt", parley.CodeFileAccessDenied},
	{"link to .env", "link-env.txt", parley.CodeFileAccessDenied},
	{"link with a key's name", ".env.prod", parley.CodeFileAccessDenied},
	{"hard link to a key", "hard-key.txt", parley.CodeFileAccessDenied},
	{".env", ".env", parley.CodeFileAccessDenied},
	{".env by lines", ".env{1:2}", parley.CodeFileAccessDenied},
	{".env, absolute", "%R/.env", parley.CodeFileAccessDenied},
	{".env.local", "dir/.env.local", parley.CodeFileAccessDenied},
	{"id_rsa", "id_rsa", parley.CodeFileAccessDenied},
	{"pem", "server.pem", parley.CodeFileAccessDenied},
	{"git config", ".git/config", parley.CodeFileAccessDenied},
	{"unreadable", "unreadable.txt", parley.CodeFileAccessDenied},
	{"unreadable folder", "locked/a.txt", parley.CodeFileAccessDenied},
	{"fifo", "fifo", parley.CodeUnsupportedFile},
	{"link to a fifo", "link-fifo", parley.CodeUnsupportedFile},
	{"socket", "socket", parley.CodeUnsupportedFile},
	{"binary", "binary", parley.CodeUnsupportedFile},
	{"over-large", "large.txt", parley.CodeFileTooLarge},
	{"missing", "missing.txt", parley.CodeFileNotFound},
	{"a file as folder", "plain.txt/x", parley.CodeFileNotFound},
	{"a name too long", strings.Repeat("x", 300), parley.CodeFileNotFound},
	{"empty", "", parley.CodeInvalidArgument},
	{"blank", "  ", parley.CodeInvalidArgument},
	{"zero byte", "plain.txt\x00.go", parley.CodeInvalidArgument},
	{"endless", strings.Repeat("x/", 5000), parley.CodeInvalidArgument},
}

const canary = "CANARY"

type prison struct {
	root, outside string
	r             *files.Reader
}

func newPrison(t *testing.T) prison {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := prison{root: filepath.Join(top, "root"), outside: filepath.Join(top, "outside")}
	write(t, top, map[string]string{
		"outside/secret.txt": canary, "outside/id_rsa": canary, "root-sibling/secret.txt": canary,
		"root/.env": canary, "root/dir/.env.local": canary, "root/id_rsa": canary, "root/server.pem": canary, "root/.git/config": canary,
		"root/key.pem": "-----BEGIN " + "PRIVATE KEY-----\n" + canary, "root/plain.txt": "plain",
		"root/binary": canary + "\x00", "root/large.txt": canary, "root/unreadable.txt": canary, "root/locked/a.txt": canary,
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(p.root, name) }
	must(os.Truncate(in("large.txt"), 11<<20)) // for a picture too
	must(os.Symlink(filepath.Join(p.outside, "secret.txt"), in("link-out.txt")))
	must(os.Symlink("../outside/secret.txt", in("link-rel.txt")))
	must(os.Symlink("../outside/missing", in("link-dangling")))
	must(os.Symlink(p.outside, in("link-dir")))
	must(os.Symlink("link-out.txt", in("link-link")))
	must(os.Symlink("/dev/zero", in("link-zero")))
	must(os.Symlink("/proc/self/environ", in("link-proc")))
	must(os.Symlink("link-loop", in("link-loop")))
	must(os.Symlink("id_rsa", in("link-key.txt")))
	must(os.Symlink(".env", in("link-env.txt")))
	must(os.Symlink("plain.txt", in(".env.prod")))
	must(os.Link(in("key.pem"), in("hard-key.txt")))
	must(syscall.Mkfifo(in("fifo"), 0o600))
	must(os.Symlink("fifo", in("link-fifo")))
	// A socket's whole path may have a hundred bytes, so it is made elsewhere.
	short, err := os.MkdirTemp("", "s") //nolint:usetesting // t.TempDir is too long for a socket
	must(err)
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	must(err)
	must(os.Rename(filepath.Join(short, "s"), in("socket")))
	t.Cleanup(func() { _ = l.Close(); _ = os.RemoveAll(short) })
	must(os.Chmod(in("unreadable.txt"), 0))
	must(os.Chmod(in("locked"), 0))
	t.Cleanup(func() { _ = os.Chmod(in("locked"), 0o700) })
	p.r = newReader(t, files.Options{Roots: []string{p.root}})
	return p
}

func (p prison) spec(s string) string {
	return strings.NewReplacer("%R", p.root, "%O", p.outside).Replace(s)
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	for _, c := range forbidden {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(c.name, "unreadable") && os.Getuid() == 0 {
				t.Skip("root may read everything")
			}
			spec := p.spec(c.spec)
			got, err := p.r.Read(t.Context(), []string{spec})
			if parley.ErrorCode(err) != c.code {
				t.Errorf("Read: got %+v, %v, want %s", got, err, c.code)
			}
			pictures, picErr := p.r.Images(t.Context(), []string{spec})
			if picErr == nil || pictures != nil {
				t.Errorf("Images: got %+v", pictures)
			}
			for _, err := range []error{err, picErr} {
				if e := parley.AsError(err); e != nil && strings.Contains(e.Message+e.Hint, canary) {
					t.Errorf("the error holds the file's contents: %v", e)
				}
			}
		})
	}
	got, err := p.r.Read(t.Context(), []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Files {
		if strings.Contains(f.Text, canary) && f.Path != "unreadable.txt" && f.Path != "locked/a.txt" {
			t.Errorf("the folder brought %s", f.Path)
		}
	}
}

// TestForbiddenIsNotTouched proves that a refused file was not read: reading
// sets a file's access time, where the file system keeps them.
func TestForbiddenIsNotTouched(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	probe := func(name string) (string, int64) {
		path := filepath.Join(p.root, name)
		old := syscall.Timeval{Sec: 1}
		if err := syscall.Utimes(path, []syscall.Timeval{old, {Sec: 2}}); err != nil {
			t.Fatal(err)
		}
		return path, accessed(t, path)
	}
	path, before := probe("plain.txt")
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if accessed(t, path) == before {
		t.Skip("this file system keeps no access times")
	}
	for _, name := range []string{".env", "id_rsa", "server.pem", "large.txt", ".git/config", "dir/.env.local", "../outside/secret.txt", "../outside/id_rsa"} {
		path, before := probe(name)
		for _, spec := range []string{name, path, ".", "**/*", "dir", "link-key.txt", "link-env.txt", "link-out.txt"} {
			_, _ = p.r.Read(t.Context(), []string{spec})
			_, _ = p.r.Images(t.Context(), []string{spec})
		}
		if accessed(t, path) != before {
			t.Errorf("%s was read", name)
		}
	}
}

// TestFIFOIsNotOpened waits on the other end: a writer that does not block can
// open a pipe only while a reader has it open.
func TestFIFOIsNotOpened(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	path := filepath.Join(p.root, "fifo")
	stop := make(chan struct{})
	opened := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				opened <- false
				return
			default:
			}
			if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = f.Close()
				opened <- true
				return
			}
			runtime.Gosched()
		}
	}()
	for range 50 {
		_, _ = p.r.Read(t.Context(), []string{"fifo", "link-fifo", "fifo{1:2}"})
		_, _ = p.r.Read(t.Context(), []string{"."})
		_, _ = p.r.Images(t.Context(), []string{"fifo"})
	}
	close(stop)
	if <-opened {
		t.Error("the pipe was opened for reading")
	}
}

// TestSwappedForFIFO puts a pipe in the place of a file that was looked at. It
// must neither block nor be read.
func TestSwappedForFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "harmless"})
	r := newReader(t, files.Options{Roots: []string{dir}, KeyFile: func(name string, _ []byte) bool {
		_ = os.Remove(name)
		_ = syscall.Mkfifo(name, 0o600)
		return false
	}})
	if _, err := r.Read(t.Context(), []string{"a.txt"}); parley.ErrorCode(err) != parley.CodeUnsupportedFile {
		t.Errorf("got %v", err)
	}
}

// TestSwappedForLink puts a link to the outside in the place of a file that was
// looked at.
func TestSwappedForLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.txt": "harmless"})
	write(t, outside, map[string]string{"secret": canary})
	r := newReader(t, files.Options{Roots: []string{dir}, KeyFile: func(name string, _ []byte) bool {
		_ = os.Remove(name)
		_ = os.Symlink(filepath.Join(outside, "secret"), name)
		return false
	}})
	if got, err := r.Read(t.Context(), []string{"a.txt"}); err == nil {
		t.Errorf("got %+v", got)
	}
}

func TestProcAsRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	r := newReader(t, files.Options{Roots: []string{"/proc/self"}})
	for _, spec := range []string{"environ", "status", "cmdline"} {
		if got, err := r.Read(t.Context(), []string{spec}); parley.ErrorCode(err) != parley.CodeUnsupportedFile {
			t.Errorf("%s: got %+v, %v", spec, got, err)
		}
	}
	dev := newReader(t, files.Options{Roots: []string{"/dev"}})
	for _, spec := range []string{"zero", "null", "tty"} {
		if _, err := dev.Read(t.Context(), []string{spec}); parley.ErrorCode(err) != parley.CodeUnsupportedFile {
			t.Errorf("%s: got %v", spec, err)
		}
	}
}

// TestEverythingReadIsInside follows every link of what was returned.
func TestEverythingReadIsInside(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	specs := []string{"**", "*", ".", "dir", "**/*.txt", "*/*", p.root, p.root + "/**", "l*", "[a-z]*", ".*", "**/.*"}
	for _, c := range forbidden {
		specs = append(specs, p.spec(c.spec), p.spec(c.spec)+"/**", p.spec(c.spec)+"*")
	}
	for _, spec := range specs {
		got, err := p.r.Read(t.Context(), []string{spec})
		if err != nil {
			continue
		}
		for _, f := range got.Files {
			end, err := filepath.EvalSymlinks(filepath.Join(f.Root, filepath.FromSlash(f.Path)))
			if err != nil || !strings.HasPrefix(end, p.root+"/") || strings.HasPrefix(filepath.Base(end), ".env") {
				t.Errorf("%s brought %s (%v)", spec, end, err)
			}
		}
	}
}
