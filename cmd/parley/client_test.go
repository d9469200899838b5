package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is a `parley serve` process on stdio and a small MCP client for it.
// Every line that the process writes is checked: anything but JSON-RPC on
// stdout fails the test.
type server struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	stderr syncBuffer

	mu      sync.Mutex
	pending map[int64]chan reaction
	nextID  int64
	// strays are messages without an id of ours: notifications, and errors
	// about frames that had no id.
	strays []json.RawMessage
	lines  int
	closed bool // the process's stdout has ended

	read sync.WaitGroup
	// exited is closed when the process has ended and been collected.
	exited chan struct{}
}

// reaction is a response, or the news that there will be none.
type reaction struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	lost bool
}

// errLost says that the server ended before it responded.
var errLost = errors.New("the server is gone")

type syncBuffer struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	wake chan struct{} // closed at the next write; nil when nobody waits
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
	return b.buf.Write(p)
}

// wrote is closed when there is something that was not there at the last call.
func (b *syncBuffer) wrote() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wake == nil {
		b.wake = make(chan struct{})
	}
	return b.wake
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve starts a server on stdio and shakes hands with it.
func (r *rig) serve(args ...string) *server {
	r.t.Helper()
	s := r.spawn(r.command(append([]string{"serve"}, args...)...))
	s.listen()
	s.hello()
	return s
}

// spawn starts a server process without talking to it or reading from it.
func (r *rig) spawn(cmd *exec.Cmd) *server {
	r.t.Helper()
	return r.spawnTo(cmd, nil)
}

// spawnTo is spawn with a stderr of one's own; nil collects it.
func (r *rig) spawnTo(cmd *exec.Cmd, stderr io.Writer) *server {
	r.t.Helper()
	s := &server{t: r.t, cmd: cmd, pending: make(map[int64]chan reaction), exited: make(chan struct{})}
	var err error
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	reading, writing, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	s.stdout = reading
	if stderr == nil {
		stderr = &s.stderr
	}
	cmd.Stdout, cmd.Stderr = writing, stderr
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	_ = writing.Close()
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(s.exited)
	}()
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.exited
		_ = s.stdin.Close()
		_ = s.stdout.Close()
		s.read.Wait()
		checkSane(r.t, s.stderr.String())
	})
	return s
}

// listen reads what the process writes until it ends.
func (s *server) listen() {
	s.read.Go(func() {
		lines := bufio.NewReaderSize(s.stdout, 64<<10)
		for {
			line, err := lines.ReadBytes('\n')
			if err == nil {
				s.take(line)
				continue
			}
			// kill -9 may cut a line short; nothing else may.
			if len(line) > 0 && !s.killed() {
				s.t.Errorf("stdout ends within a line: %.200q", line)
			}
			s.lose()
			return
		}
	})
}

// killed waits for the end of the process.
func (s *server) killed() bool {
	<-s.exited
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// take checks one line of stdout and gives it to whoever waits for it.
func (s *server) take(line []byte) {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		batch = []json.RawMessage{line}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines++
	for _, m := range batch {
		var head struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			reaction
		}
		if err := json.Unmarshal(m, &head); err != nil || head.Version != "2.0" {
			s.t.Errorf("stdout holds something other than JSON-RPC: %.200q (%v)", line, err)
			continue
		}
		id, err := strconv.ParseInt(string(head.ID), 10, 64)
		if err != nil || head.Method != "" || s.pending[id] == nil {
			s.strays = append(s.strays, bytes.Clone(m))
			continue
		}
		s.pending[id] <- head.reaction
		delete(s.pending, id)
	}
}

// lose tells everybody who waits that nothing will come.
func (s *server) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for id, waiting := range s.pending {
		waiting <- reaction{lost: true}
		delete(s.pending, id)
	}
}

func (s *server) hello() {
	s.t.Helper()
	r := s.begin("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "parley-test", "version": "1"},
	}).wait()
	if r.lost || r.Error != nil {
		s.t.Fatalf("initialize: %+v; stderr:\n%s", r, s.stderr.String())
	}
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// write sends one line as it stands.
func (s *server) write(line string) {
	_, _ = io.WriteString(s.stdin, line+"\n") // a dead process is noticed by its stdout
}

// call is a request that is under way.
type call struct {
	s        *server
	id       int64
	response chan reaction
}

// begin sends a request and does not wait.
func (s *server) begin(method string, params any) *call {
	s.mu.Lock()
	s.nextID++
	c := &call{s: s, id: s.nextID, response: make(chan reaction, 1)}
	if s.closed {
		c.response <- reaction{lost: true}
	} else {
		s.pending[c.id] = c.response
	}
	s.mu.Unlock()
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		s.t.Error(err)
	}
	s.write(string(data))
	return c
}

func (c *call) wait() reaction {
	select {
	case r := <-c.response:
		return r
	case <-time.After(patience):
		c.s.t.Errorf("no response to request %d; stderr:\n%s", c.id, c.s.stderr.String())
		return reaction{lost: true}
	}
}

// cancel is what a client sends when its user stops a call.
func (c *call) cancel() {
	c.s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"the user stopped it"}}`, c.id))
}

// answer is a tool's answer, both halves.
type answer struct {
	text    string
	isError bool

	Status       string `json:"status"`
	Content      string `json:"content"`
	Code         string `json:"code"`
	Message      string `json:"error"`
	Hint         string `json:"hint"`
	Continuation struct {
		ID           string `json:"id"`
		MessageCount int    `json:"messageCount"`
	} `json:"continuation"`
	Metadata struct {
		RunID    string `json:"run_id"`
		Model    string `json:"model"`
		Provider string `json:"provider"`
	} `json:"metadata"`
	Runs []struct {
		RunID  string `json:"run_id"`
		Status string `json:"status"`
	} `json:"runs"`
	Turns []struct {
		Question string `json:"question"`
		Answer   string `json:"answer"`
	} `json:"turns"`
}

type args = map[string]any

// tool begins a tool call.
func (s *server) tool(name string, a args) *call {
	return s.begin("tools/call", map[string]any{"name": name, "arguments": a})
}

// call makes a tool call and expects any answer.
func (s *server) call(name string, a args) answer {
	s.t.Helper()
	got, err := s.tool(name, a).answer()
	if err != nil {
		s.t.Fatalf("%s: %v; stderr:\n%s", name, err, s.stderr.String())
	}
	return got
}

// ok makes a tool call and expects an answer with a status.
func (s *server) ok(status, name string, a args) answer {
	s.t.Helper()
	got := s.call(name, a)
	if got.isError || got.Status != status {
		s.t.Fatalf("%s %v: status %q, want %q\n%s", name, a, got.Status, status, got.text)
	}
	return got
}

// answer waits for a tool's answer; errLost if the server ends first.
func (c *call) answer() (answer, error) {
	r := c.wait()
	switch {
	case r.lost:
		return answer{}, errLost
	case r.Error != nil:
		return answer{}, fmt.Errorf("JSON-RPC error %d: %s", r.Error.Code, r.Error.Message)
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		return answer{}, err
	}
	var a answer
	if len(result.Structured) > 0 {
		if err := json.Unmarshal(result.Structured, &a); err != nil {
			return answer{}, err
		}
	}
	if len(result.Content) > 0 {
		a.text = result.Content[0].Text
	}
	a.isError = result.IsError
	return a, nil
}

// kill is kill -9.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.exited
}

// signal sends a signal and leaves.
func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the process to end by itself, and returns its exit code.
func (s *server) end() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatalf("the server did not end; stderr:\n%s", s.stderr.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

// close ends the session as a client does, and expects the server to follow.
func (s *server) close() {
	s.t.Helper()
	_ = s.stdin.Close()
	if code := s.end(); code != 0 {
		s.t.Errorf("exit code %d; stderr:\n%s", code, s.stderr.String())
	}
}

func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
