package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "The whole product on simulated models, no key needed", Args: cobra.NoArgs,
		Long: "demo starts a real server with simulated models in a folder of its own, talks to it as an MCP\n" +
			"client would, kills it in the middle of a run, and shows that nothing was lost. It takes about\n" +
			"fifteen seconds, asks no real model and leaves nothing behind.",
		Example: "  parley demo",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), cmd.OutOrStdout()) },
	}
}

// stage is one demo: a home, and a server process that may be killed.
type stage struct {
	out     io.Writer
	home    string
	process *exec.Cmd
	session *mcp.ClientSession
	began   time.Time
}

func runDemo(ctx context.Context, out io.Writer) error {
	home, err := os.MkdirTemp("", "parley-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer os.RemoveAll(home)
	s := &stage{out: out, home: home, began: time.Now()}
	if err := s.start(ctx); err != nil {
		return err
	}
	defer s.stop()

	s.say("1. A question. The agent calls the tool chat; the answer ends with an id.")
	first, err := s.call(ctx, "chat", map[string]any{"prompt": "Should this service use a queue or a cron job?"})
	if err != nil {
		return err
	}
	s.say("2. The same thread again, with another model. It is shown the first question and its answer.")
	if _, err = s.call(ctx, "chat", map[string]any{"prompt": "What if it must survive a restart?", "continuation_id": first.Continuation.ID, "model": "demo-deep"}); err != nil {
		return err
	}
	s.say("3. A long question in the background: async returns at once.")
	slow, err := s.call(ctx, "chat", map[string]any{"prompt": "Compare both in depth, please.", "continuation_id": first.Continuation.ID, "model": "demo-slow", "async": true})
	if err != nil {
		return err
	}
	if _, err = s.call(ctx, "check_status", map[string]any{"continuation_id": slow.Metadata.RunID, "wait_seconds": 1.5}); err != nil {
		return err
	}
	s.say("4. Now the plug is pulled: kill -9 on the server, in the middle of the run.")
	if err := s.kill(); err != nil {
		return err
	}
	s.say("   A new server starts on the same store, and takes the run up by itself.")
	if err := s.start(ctx); err != nil {
		return err
	}
	if _, err = s.call(ctx, "check_status", map[string]any{"continuation_id": slow.Metadata.RunID, "wait_seconds": 30}); err != nil {
		return err
	}
	s.say("5. The thread after all that: every question and every answer, once.")
	if _, err = s.call(ctx, "check_status", map[string]any{"continuation_id": first.Continuation.ID, "full_history": true}); err != nil {
		return err
	}
	s.say(fmt.Sprintf("That took %.0f seconds. Next: `parley doctor` says what a real model needs, `parley serve` is what your MCP client starts.",
		time.Since(s.began).Seconds()))
	return nil
}

func (s *stage) say(text string) { fmt.Fprintf(s.out, "\n%s\n", text) }

// start runs this very program as a server and connects to it.
func (s *stage) start(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	s.process = exec.CommandContext(ctx, self, "serve", "--demo", "on")
	s.process.Env = append(cleanEnv(), "PARLEY_HOME="+s.home, "PARLEY_STRUCTURED=always")
	s.process.Dir = s.home
	client := mcp.NewClient(&mcp.Implementation{Name: "parley-demo", Version: version}, nil)
	s.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: s.process}, nil)
	if err != nil {
		return fmt.Errorf("starting the demo server: %w", err)
	}
	return nil
}

// cleanEnv is the environment without anything that could bring a real model
// into the demo.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name == "PATH" || name == "HOME" || name == "TMPDIR" || strings.HasPrefix(name, "SYSTEM") || name == "TEMP" || name == "USERPROFILE" {
			env = append(env, v)
		}
	}
	return env
}

func (s *stage) kill() error {
	if err := s.process.Process.Kill(); err != nil {
		return fmt.Errorf("killing the demo server: %w", err)
	}
	_ = s.session.Close() // it is dead; this only collects it
	return nil
}

func (s *stage) stop() {
	if s.session != nil {
		_ = s.session.Close()
	}
}

// reply is what the demo reads of a structured answer.
type reply struct {
	Continuation struct {
		ID string `json:"id"`
	} `json:"continuation"`
	Metadata struct {
		RunID string `json:"run_id"`
	} `json:"metadata"`
}

// call makes one tool call and shows it as a person would want to read it.
func (s *stage) call(ctx context.Context, tool string, args map[string]any) (reply, error) {
	shown, err := json.Marshal(args)
	if err != nil {
		return reply{}, fmt.Errorf("encoding the arguments: %w", err)
	}
	fmt.Fprintf(s.out, "   → %s %s\n", tool, shown)
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return reply{}, fmt.Errorf("calling %s: %w", tool, err)
	}
	var text string
	if len(result.Content) > 0 {
		if c, ok := result.Content[0].(*mcp.TextContent); ok {
			text = c.Text
		}
	}
	for l := range strings.Lines(text) {
		fmt.Fprint(s.out, "     ", l)
	}
	fmt.Fprintln(s.out)
	if result.IsError {
		return reply{}, fmt.Errorf("%s failed", tool)
	}
	data, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return reply{}, fmt.Errorf("encoding the answer: %w", err)
	}
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return reply{}, fmt.Errorf("reading the answer: %w", err)
	}
	return r, nil
}
