package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley"
	"parley/fakeai"
	"parley/store/sqlite"
)

// program is the path of parley.
var program string

// TestMain makes the test binary stand in for the program: called as "parley"
// it is parley, so that the tests run real processes, with the race detector
// if the tests have it. It goes by its name and not by a variable, because
// `parley demo` starts itself with an environment of its own.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "parley" {
		main()
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "parley"+filepath.Ext(self))
	if filepath.Ext(self) == ".test" {
		program = filepath.Join(dir, "parley")
	}
	if err := os.Link(self, program); err != nil {
		data, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(program, data, 0o700)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return m.Run()
}

// testKey is the key that every rig uses. Its value must not turn up anywhere.
const testKey = "sk-test-4fJ9qLw2ZpX7"

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience) // cleanups use it too
	t.Cleanup(cancel)
	return ctx
}

// rig is a fake upstream and a home for parley processes that ask it.
type rig struct {
	t    testing.TB
	up   *fakeai.Server
	home string
	// dir is the working directory, which is a project of its own.
	dir string
	env []string
}

// newRig returns a rig; env is added to the processes' environment and wins.
func newRig(t testing.TB, env ...string) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{t: t, up: fakeai.Start(), home: filepath.Join(base, "home"), dir: filepath.Join(base, "project")}
	t.Cleanup(r.up.Close)
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + base, "TMPDIR=" + os.TempDir(), "PARLEY_HOME=" + r.home,
		"OPENAI_API_KEY=" + testKey, "OPENAI_BASE_URL=" + r.up.OpenAI(),
		"GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}, env...)
	return r
}

// without returns the rig's environment without some variables.
func (r *rig) without(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(r.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, name)
	})
}

func (r *rig) command(args ...string) *exec.Cmd {
	r.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	return cmd
}

// output is what a command left behind.
type output struct {
	stdout, stderr string
	code           int
}

// run runs a command to its end.
func (r *rig) run(args ...string) output {
	r.t.Helper()
	return finish(r.t, r.command(args...))
}

func finish(t testing.TB, cmd *exec.Cmd) output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return await(t, cmd, &stdout, &stderr)
}

// await waits for a started command, and kills it if it takes too long.
func await(t testing.TB, cmd *exec.Cmd, stdout, stderr *bytes.Buffer) output {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		t.Errorf("%s did not end", cmd)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	checkSane(t, stderr.String())
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// checkSane finds what a process must never say.
func checkSane(t testing.TB, stderr string) {
	t.Helper()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if strings.Contains(stderr, bad) {
			t.Errorf("a process wrote to stderr:\n%s", stderr)
			return
		}
	}
}

// store opens the rig's store in the test's own process, to look at it.
func (r *rig) store() *sqlite.DB {
	r.t.Helper()
	db, err := sqlite.Open(deadline(r.t), r.home, sqlite.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	return db
}

// turns returns a thread's turns as they are stored.
func (r *rig) turns(db *sqlite.DB, thread string) []parley.Turn {
	r.t.Helper()
	found, err := db.Thread(deadline(r.t), thread)
	if err != nil {
		r.t.Fatal(err)
	}
	turns, err := db.Turns(deadline(r.t), thread, parley.Span{From: 1, Through: found.Turns})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(turns) != found.Turns {
		r.t.Errorf("thread %s counts %d turns and has %d", thread, found.Turns, len(turns))
	}
	return turns
}

// until returns when what it is asked about the store has come true.
func until(t testing.TB, db *sqlite.DB, what string, holds func() (bool, error)) {
	t.Helper()
	ctx := deadline(t)
	for {
		ok, err := holds()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if err := db.Changed(ctx); err != nil {
			t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// requests waits until n requests have arrived upstream.
func (r *rig) requests(n int) []*fakeai.Request {
	r.t.Helper()
	list, err := r.up.Await(deadline(r.t), n)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// exactly checks that n requests have arrived upstream, and returns them.
func (r *rig) exactly(n int) []*fakeai.Request {
	r.t.Helper()
	list := r.up.Requests()
	if len(list) != n {
		r.t.Fatalf("%d requests went upstream, want %d", len(list), n)
	}
	return list
}

// gone waits until the client of an upstream request has closed it.
func gone(t testing.TB, req *fakeai.Request) {
	t.Helper()
	select {
	case <-req.Gone():
	case <-time.After(patience):
		t.Fatal("the upstream connection was not closed")
	}
}

// said is a conversation as "role: text" lines, labels of earlier answers left out.
func said(req *fakeai.Request) []string {
	var lines []string
	for _, m := range req.Messages {
		text := m.Text
		if m.Role == "assistant" {
			if _, rest, ok := strings.Cut(text, "]\n\n"); ok && strings.HasPrefix(text, "[") {
				text = rest
			}
		}
		lines = append(lines, m.Role+": "+text)
	}
	return lines
}

// grepFiles returns the files below dir that hold a text.
func grepFiles(t testing.TB, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
