package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/fakeai"
)

// TestScript runs the scripts below testdata/script: the terminal as a person
// uses it. Beside testscript's own, they have these commands:
//
//	exits CODE program args…   run a program and check its exit code
//	capture VAR file pattern   set a variable to what a pattern matches
//	requests N                 check how many requests have gone upstream
//	sent N file                write the messages of the N-th request to a file
//	answer text                answer everything with this text from now on
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			up := fakeai.Start()
			env.Defer(up.Close)
			env.Values["up"] = up
			env.Setenv("OPENAI_API_KEY", testKey)
			env.Setenv("OPENAI_BASE_URL", up.OpenAI())
			env.Setenv("PARLEY_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "user"))
			env.Setenv("GORACE", "halt_on_error=1 atexit_sleep_ms=0")
			return os.Mkdir(filepath.Join(env.WorkDir, "user"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "capture": capture, "requests": requests, "sent": sent, "answer": setAnswer,
		},
	})
}

func upstream(ts *testscript.TestScript) *fakeai.Server {
	return ts.Value("up").(*fakeai.Server)
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func capture(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[2]).FindString(ts.ReadFile(args[1]))
	if found == "" {
		ts.Fatalf("nothing in %s matches %s", args[1], args[2])
	}
	ts.Setenv(args[0], found)
}

func requests(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(len(upstream(ts).Requests())); got != args[0] {
		ts.Fatalf("%s requests went upstream, want %s", got, args[0])
	}
}

func sent(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := upstream(ts).Requests()
	if n > len(all) {
		ts.Fatalf("only %d requests went upstream", len(all))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(said(all[n-1]), "\n")+"\n"), 0o600))
}

func setAnswer(ts *testscript.TestScript, _ bool, args []string) {
	upstream(ts).Script("", fakeai.Script{Text: strings.Join(args, " ")})
}
