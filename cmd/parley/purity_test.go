package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/fakeai"
)

// secretive checks that the key is nowhere: not in what a process said, not in
// any file of its home.
func (r *rig) secretive(said ...string) {
	r.t.Helper()
	for _, text := range said {
		if strings.Contains(text, testKey) {
			r.t.Errorf("the key was shown:\n%s", text)
		}
	}
	if _, err := os.Stat(r.home); err != nil {
		return
	}
	for _, file := range grepFiles(r.t, r.home, testKey) {
		r.t.Errorf("the key is in %s", file)
	}
}

// Every line of stdout is checked by the client itself; see server.take.
func TestStdoutIsPureJSONRPC(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"debug", "info"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "LOG_LEVEL="+level)
			s := r.serve()
			s.badFrames()
			s.calls(r)
			s.signal(terminate)
			if code := s.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s.read.Wait()
			if s.lines < 20 {
				t.Errorf("only %d lines on stdout", s.lines)
			}
			r.secretive(s.stderr.String())
		})
	}
}

// badFrames sends what is no request, and then something that must be answered.
func (s *server) badFrames() {
	s.t.Helper()
	frames := []string{
		`not JSON at all`, `{"jsonrpc":"2.0"`, `{}`, `[]`, `42`, `null`, `"text"`, "\xff\xfe", `{"jsonrpc":"1.0","id":1,"method":"x"}`,
		`[{"jsonrpc":"2.0","method":"notifications/none"}]`, ``, `   `,
		`{"jsonrpc":"2.0","id":"a","method":"no/such/method"}`,
		`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"chta","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":42}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}`,
	}
	for _, frame := range frames {
		s.write(frame)
	}
	s.call("version", args{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.strays) < 8 {
		s.t.Errorf("%d of the bad frames were answered: %s", len(s.strays), s.strays)
	}
}

// calls goes through answers, tool errors and upstream errors.
func (s *server) calls(r *rig) {
	s.t.Helper()
	s.ok("completed", "chat", args{"prompt": "one?"})
	for name, a := range map[string]args{
		"chat": {}, "check_status": {"continuation_id": "run_nobodyknowsthisone"}, "cancel_job": {"continuation_id": "../../etc"},
		"listmodels": {"capability": "flying"},
	} {
		if got := s.call(name, a); !got.isError {
			s.t.Errorf("%s %v: %s", name, a, got.text)
		}
	}
	r.up.Enqueue("",
		fakeai.Script{Status: http.StatusUnauthorized, Message: "Incorrect API key provided: " + testKey},
		fakeai.Script{Status: http.StatusBadRequest, Message: "Bearer " + testKey + " is not good"},
		fakeai.Script{Status: http.StatusBadRequest, Body: "<html>" + testKey + "</html>"},
		fakeai.Script{Status: http.StatusForbidden, Header: http.Header{"X-Key": {testKey}}, Message: "no " + testKey},
		fakeai.Script{Text: "halfway", Chunks: 2, ErrorAfter: 1, Message: "broke with " + testKey},
		fakeai.Script{Text: "halfway", Chunks: 2, CutAfter: 1},
	)
	for n := range 6 {
		got := s.call("chat", args{"prompt": fmt.Sprintf("fail %d", n)})
		if !got.isError || strings.Contains(got.text+got.Message+got.Hint, testKey) {
			s.t.Errorf("failure %d: %s", n, got.text)
		}
	}
	s.call("chat", args{"prompt": "with a model nobody has", "model": "nobody/has-it"})
	s.ok("completed", "listmodels", args{})
	s.ok("completed", "check_status", args{})
}

func TestServeWithBadConfigurationSaysNothingOnStdout(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"unknown key":  "[openai]\nkei = \"" + testKey + "\"\n",
		"not TOML":     "[openai]\nkey = " + testKey + "\n",
		"wrong word":   "durability = \"sometimes\"\n",
		"not a number": "max_turns = \"many\"\n",
	}
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			file := filepath.Join(t.TempDir(), "own.toml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r.env = append(r.env, "PARLEY_CONFIG="+file)
			refused(t, r, r.run("serve"), file)
		})
	}
	for variable, value := range map[string]string{
		"OPENAI_BASE_URL": "not an address", "PARLEY_DURABILITY": "half", "LOG_LEVEL": "loud", "HTTP_PORT": "-1",
		"MCP_TRANSPORT": "pigeon", "PARLEY_PROGRESS_INTERVAL": "soon", "PARLEY_STRUCTURED": "maybe",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, variable+"="+value)
			refused(t, r, r.run("serve"), variable)
		})
	}
}

// refused checks that a command ended with a sentence that names the culprit.
func refused(t *testing.T, r *rig, got output, culprit string) {
	t.Helper()
	if got.code != 1 || got.stdout != "" {
		t.Errorf("exit code %d, stdout %q", got.code, got.stdout)
	}
	if !strings.HasPrefix(got.stderr, "parley: ") || !strings.Contains(got.stderr, culprit) {
		t.Errorf("stderr does not name %s:\n%s", culprit, got.stderr)
	}
	r.secretive(got.stdout, got.stderr)
}

func TestModesAreClosedToOthers(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell to set a umask with")
	}
	r := newRig(t)
	cmd := r.command("serve")
	// A umask that would let everybody in.
	cmd.Args = append([]string{"/bin/sh", "-c", `umask 0; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	s := r.spawn(cmd)
	s.listen()
	s.hello()
	s.ok("completed", "chat", args{"prompt": "one?"})
	seen := checkModes(t, r.home)
	s.kill() // and what is left behind by that
	if more := checkModes(t, r.home); more < seen || seen < 6 {
		t.Errorf("%d and then %d files and folders; where are they?", seen, more)
	}
}

func checkModes(t *testing.T, home string) (seen int) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = os.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %s, want %s", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
