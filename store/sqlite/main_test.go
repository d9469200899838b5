package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley"
	"parley/store/sqlite"
)

// childEnv names what this binary should do instead of running tests, so that
// tests can have other processes.
const childEnv = "PARLEY_SQLITE_CHILD"

// children are what a child may be. Each tells its parent what it has done, line
// by line.
var children = map[string]func(dir string, out io.Writer) error{
	"write": childWrite,
	"hold":  childHold,
	"open":  childOpen,
}

func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv(childEnv)]; ok {
		if err := child(os.Args[1], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const sharedThread = "shared"

// turnsPerChild is what each writing child commits.
const turnsPerChild = 25

// childWrite commits turns and prints each as soon as it is acknowledged.
func childWrite(dir string, out io.Writer) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	for i := range turnsPerChild {
		run, err := ask(ctx, db, sharedThread, db.Owner()+" "+strconv.Itoa(i))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, run.Result.Turn, db.Owner(), i); err != nil {
			return err
		}
	}
	return db.Close()
}

// childHold begins runs and waits to be killed.
func childHold(dir string, out io.Writer) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	for range 3 {
		run, err := db.Begin(ctx, newRun(db, sharedThread), nil)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, run.ID); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// childOpen waits for the start and opens the store.
func childOpen(dir string, out io.Writer) error {
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	db, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}

// process is a running child.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

func start(t *testing.T, child, dir string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+child)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return &process{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
}

// line returns the child's next line.
func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the child ended early: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// wait returns the rest of the child's lines when it has ended.
func (p *process) wait(t *testing.T) []string {
	t.Helper()
	var rest []string
	for p.lines.Scan() {
		rest = append(rest, p.lines.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("child: %v\n%s", err, strings.Join(rest, "\n"))
	}
	return rest
}

func newThread(id string) parley.Thread {
	return parley.Thread{ID: id, Title: "title", Principal: "p", Tool: "chat"}
}

func newRun(s parley.Store, threadID string) parley.Run {
	return parley.Run{
		ID: parley.NewRunID(), ThreadID: threadID, Principal: "p", Tool: "chat", State: parley.StateRunning,
		Mode: parley.ModeAsync, Request: parley.Request{Tool: "chat", Prompt: "why?"}, Owner: s.Owner(), Attempt: 1,
	}
}

// begin writes a run down on a new thread.
func begin(s parley.Store, threadID string) (parley.Run, error) {
	thread := newThread(threadID)
	return s.Begin(context.Background(), newRun(s, threadID), &thread)
}

func answer(question string) parley.Ending {
	return parley.Ending{
		State: parley.StateCompleted, Result: parley.Result{Content: "because"},
		Turn: &parley.Turn{Question: question, Answers: []parley.Answer{{Text: "because", Tokens: 1}}},
	}
}

func ask(ctx context.Context, s parley.Store, threadID, question string) (parley.Run, error) {
	run, err := s.Begin(ctx, newRun(s, threadID), nil)
	if err != nil {
		return parley.Run{}, err
	}
	return s.End(ctx, run.Fence(), answer(question))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
