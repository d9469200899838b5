package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
	"parley/engine"
	"parley/fakeai"
	"parley/mcpserver"
)

// follower is a client that notes the progress of its calls.
type follower struct {
	*session
	mu   sync.Mutex
	seen []*mcp.ProgressNotificationParams
	at   []time.Time
	// heard gets a message for each notification.
	heard chan string
}

func (b *testBundle) follow(t *testing.T) *follower {
	t.Helper()
	f := &follower{heard: make(chan string, 1000)}
	f.session = b.connectWith(t, "stranger", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.seen, f.at = append(f.seen, r.Params), append(f.at, time.Now())
			f.heard <- r.Params.Message
		},
	})
	return f
}

func (f *follower) begin(ctx context.Context, tool string, args fields) <-chan reply {
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken("token")
	done := make(chan reply, 1)
	go func() {
		r, err := f.send(ctx, params)
		if err != nil {
			r.text = err.Error()
		}
		done <- r
	}()
	return done
}

// hear waits for a message with the words.
func (f *follower) hear(words string) {
	f.t.Helper()
	ctx := deadline(f.t)
	for {
		select {
		case message := <-f.heard:
			if strings.Contains(message, words) {
				return
			}
		case <-ctx.Done():
			f.t.Fatalf("nothing was heard of %q", words)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.ProgressEvery = 5 * time.Millisecond }))
	begin, goOn := make(chan struct{}), make(chan struct{})
	text := strings.Repeat("early ", 100) + "the very last words. And more."
	b.up.Script("gpt-5-mini", fakeai.Script{Text: text, Chunks: 2, Hold: begin, HoldAfter: 1, HoldChunks: goOn})
	f := b.follow(t)
	began := time.Now()
	done := f.begin(deadline(t), "chat", fields{"prompt": "x", "model": model})

	f.hear("waiting for " + model)
	close(begin)
	f.hear(model + " is answering: …")
	close(goOn)
	if r := <-done; r.isError || r.str("content") != text {
		t.Fatalf("got %s", r.text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if first := f.at[0].Sub(began); first > 5*time.Second {
		t.Errorf("the first progress came after %s", first)
	}
	last := 0.0
	for _, p := range f.seen {
		if p.ProgressToken != "token" || p.Progress <= last {
			t.Errorf("progress %v with token %v after %v", p.Progress, p.ProgressToken, last)
		}
		if last = p.Progress; len(p.Message) > 400 {
			t.Errorf("a message of %d bytes", len(p.Message))
		}
	}
}

func TestProgressWhileWaitingForARun(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.ProgressEvery = 5 * time.Millisecond }))
	goOn := make(chan struct{})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "tail of it", Chunks: 2, HoldAfter: 1, HoldChunks: goOn})
	f := b.follow(t)
	began := f.call("chat", fields{"prompt": "x", "model": model, "async": true})
	done := f.begin(deadline(t), "check_status", fields{"continuation_id": began.run(), "wait_seconds": 60})
	f.hear("is answering: …tail")
	close(goOn)
	if r := <-done; r.str("status") != "completed" {
		t.Errorf("got %s", r.text)
	}
}

// slowStore takes its time to write a run down.
type slowStore struct {
	parley.Store
	goOn <-chan struct{}
}

func (s slowStore) Begin(ctx context.Context, run parley.Run, thread *parley.Thread) (parley.Run, error) {
	<-s.goOn
	return s.Store.Begin(ctx, run, thread)
}

// The first sign of life waits neither for the interval nor for the run to
// start, which takes long if there is much to count.
func TestFirstProgress(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	b := setup(t, func(ec *engineConfig, mc *mcpserverConfig) {
		ec.Store, mc.ProgressEvery = slowStore{ec.Store, goOn}, time.Hour
	})
	f := b.follow(t)
	done := f.begin(deadline(t), "chat", fields{"prompt": "x", "model": model})
	f.hear("starting")
	close(goOn)
	if r := <-done; r.isError {
		t.Errorf("got %s", r.text)
	}
}

func TestNoTokenNoProgress(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.ProgressEvery = time.Millisecond }))
	goOn := make(chan struct{})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "x", Hold: goOn})
	f := b.follow(t)
	done := make(chan reply, 1)
	go func() { r, _ := f.try(deadline(t), "chat", fields{"prompt": "x", "model": model}); done <- r }()
	b.await(t, 1)
	for range 20 {
		f.call("version", nil)
	}
	close(goOn)
	<-done
	if n := len(f.heard); n != 0 {
		t.Errorf("got %d notifications", n)
	}
}

func TestClientCancels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two", Chunks: 2, HangAfter: 1})
	s := b.connect(t, "stranger")
	ctx, cancel := context.WithCancel(deadline(t))
	failed := make(chan error, 1)
	go func() {
		_, err := s.try(ctx, "chat", fields{"prompt": "hang", "model": model})
		failed <- err
	}()
	asked := b.await(t, 1)

	// Another call is served meanwhile.
	if r := s.call("chat", fields{"prompt": "quick", "model": "gpt-5.5"}); r.isError {
		t.Errorf("meanwhile: got %s", r.text)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wait(t, "the end of the upstream request", asked[0].Gone())

	run := ""
	for _, row := range s.call("check_status", nil).at("runs").([]any) {
		if row.(fields)["title"] == "hang" {
			run = row.(fields)["run_id"].(string)
		}
	}
	r := s.call("check_status", fields{"continuation_id": run, "wait_seconds": 60})
	if r.isError || r.str("status") != "cancelled" || r.str("code") != "CANCELLED" {
		t.Errorf("got %s", r.text)
	}
}

// A cancel says why. A client's own timeout is not a wish to stop.
func TestCancelReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, reason string
		cancelled  bool
	}{
		"User":       {"7", "the user pressed escape", true},
		"NoReason":   {"7", "", true},
		"TypeScript": {`"seven"`, "McpError: MCP error -32001: Request timed out", false},
		"Go":         {"7", "context deadline exceeded", false},
		"Words":      {"7", "Tool call Timeout after 300s", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			goOn := make(chan struct{})
			b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two", Chunks: 2, HoldAfter: 1, HoldChunks: goOn})
			l := b.lines(t)
			l.initialize("stranger", "2025-11-25")
			l.send(`{"jsonrpc":"2.0","id":` + c.id + `,"method":"tools/call","params":{"name":"chat","arguments":{"prompt":"x","model":"gpt-5-mini"}}}`)
			asked := b.await(t, 1)[0]
			l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + c.id + `,"reason":"` + c.reason + `"}}`)
			answer := l.read()
			if got := strings.Contains(answer, `"status":"cancelled"`); got != c.cancelled {
				t.Errorf("got %s", answer)
			}
			if c.cancelled {
				wait(t, "the end of the upstream request", asked.Gone())
				return
			}
			_, after, _ := strings.Cut(answer, `"run_id"`)
			run := ids.FindString(after)
			if stored, err := b.store.Run(deadline(t), run); err != nil || !stored.Mode.Outlives() {
				t.Errorf("the run is not handed over: %v, %v", stored.Mode, err)
			}
			close(goOn)
			end := b.connect(t, "stranger").call("check_status", fields{"continuation_id": run, "wait_seconds": 60})
			if !strings.Contains(answer, `"status":"partial"`) || end.str("status") != "completed" || end.str("content") != "one two" {
				t.Errorf("got %s, then %s", answer, end.text)
			}
		})
	}
}

// A call whose client will not wait any longer gives its run up and answers
// with what there is.
func TestHandOver(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.Block = time.Second }))
	goOn := make(chan struct{})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two three four", Chunks: 4, HoldAfter: 2, HoldChunks: goOn})
	s := b.connect(t, "stranger")
	r := s.call("chat", fields{"prompt": "count", "model": model})
	if r.isError || r.str("status") != "partial" || r.str("content") != "one two t" && r.str("content") != "one two th" ||
		!strings.HasPrefix(r.head(), "PARTIAL | CHAT | "+r.thread()+" | 0/1 | Started ") || !strings.HasSuffix(r.head(), " | "+model) {
		t.Errorf("got %s %v", r.text, r.structured)
	}
	if !strings.Contains(r.text, "\n\none two t") || !strings.Contains(r.last(), r.run()) || !runID.MatchString(r.run()) {
		t.Errorf("text: got %s", r.text)
	}
	// check_status does not wait longer than the client can either.
	if again := s.call("check_status", fields{"continuation_id": r.run(), "wait_seconds": 3600}); again.str("status") != "processing" {
		t.Errorf("got %s", again.text)
	}
	close(goOn)
	end := s.status(r.thread(), func(r reply) bool { return r.str("status") != "processing" })
	if end.str("status") != "completed" || end.str("content") != "one two three four" {
		t.Errorf("got %s", end.text)
	}
	if n := len(b.up.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// readOn is the way to the rest of an answer.
var readOn = regexp.MustCompile(`Read on with check_status, continuation_id: ((?:run|conv)_\w+:\d+)(?:, full_history: true)?`)

func TestLongAnswer(t *testing.T) {
	t.Parallel()
	var sentences strings.Builder
	for i := range 800 {
		fmt.Fprintf(&sentences, "Sentence %d – für alle 日本. ", i)
	}
	for name, c := range map[string]struct{ client, text, ends string }{
		"Sentences":  {"stranger", sentences.String(), ". "},
		"Paragraphs": {"stranger", strings.Repeat(strings.Repeat("word ", 100)+"\n\n", 60), "\n\n"},
		"OneWord":    {"stranger", strings.Repeat("日", 30_000), "日"},
		"Codex":      {"codex-mcp-client", sentences.String(), ". "},
		"Claude":     {"claude-code", strings.Repeat(sentences.String(), 3), ". "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 12_000
			if c.client == "claude-code" {
				limit = 48_000
			}
			b := setup(t)
			b.up.Script("gpt-5-mini", fakeai.Script{Text: c.text, Chunks: 50})
			s := b.connect(t, c.client)
			r := s.call("chat", fields{"prompt": "go on", "model": model})
			if !strings.Contains(r.last(), "continuation_id: conv_") {
				t.Errorf("the last line does not offer the continuation: %q", r.last())
			}
			var whole strings.Builder
			pieces := 0
			for ; pieces < 20; pieces++ {
				if n := len([]rune(r.text)); n > limit {
					t.Errorf("piece %d has %d characters", pieces, n)
				}
				head, rest, _ := strings.Cut(r.text, "\n\n")
				if !strings.HasPrefix(head, "COMPLETED | CHAT | ") {
					t.Errorf("piece %d begins with %q", pieces, head)
				}
				next := readOn.FindStringSubmatch(r.text)
				if next == nil {
					whole.WriteString(rest[:strings.LastIndex(rest, "\n\nContinue this thread")])
					break
				}
				piece := rest[:strings.LastIndex(rest, "\n\n[Cut here: ")]
				if !strings.HasSuffix(piece, c.ends) {
					t.Errorf("piece %d ends with %q", pieces, piece[len(piece)-20:])
				}
				if r.structured != nil && r.str("content") != piece {
					t.Errorf("the halves of piece %d differ", pieces)
				}
				whole.WriteString(piece)
				r = s.call("check_status", fields{"continuation_id": next[1]})
			}
			if whole.String() != c.text {
				t.Errorf("reassembled from %d pieces: %d bytes, want %d", pieces, whole.Len(), len(c.text))
			}
		})
	}
}

// Waiting in vain for a run that another process will do is not an error.
func TestWaitForAnothersRun(t *testing.T) {
	t.Parallel()
	b := setup(t, func(e *engine.Config, _ *mcpserver.Config) { e.Adopt = false })
	run, err := b.engine.Leave(t.Context(), parley.Request{Tool: "chat", Prompt: "q", Model: model, Caller: parley.Caller{Principal: "local:test"}})
	if err != nil {
		t.Fatal(err)
	}
	r := b.connect(t, "stranger").call("check_status", fields{"continuation_id": run.ID, "wait_seconds": 0.05})
	if r.isError || r.str("status") != "processing" {
		t.Errorf("got %s", r.text)
	}
}

// stuck is a store that another program has locked.
type stuck struct{ parley.Store }

func (stuck) Update(context.Context, parley.Fence, parley.RunUpdate) error {
	return &parley.Error{Code: parley.CodeStoreUnavailable, Message: "locked", Retryable: true}
}

// A hand-over that cannot be stored at once still gives the client its ids.
func TestHandOverWithALockedStore(t *testing.T) {
	t.Parallel()
	b := setup(t, func(e *engine.Config, c *mcpserver.Config) {
		c.Block = 200 * time.Millisecond
		e.Store = stuck{e.Store}
	})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "one two three four", Chunks: 4, HoldAfter: 2, HoldChunks: make(chan struct{})})
	r := b.connect(t, "stranger").call("chat", fields{"prompt": "count", "model": model})
	if r.isError || r.str("status") != "partial" || r.thread() == "" || !strings.HasPrefix(r.str("content"), "one") {
		t.Errorf("got %s", r.text)
	}
}
