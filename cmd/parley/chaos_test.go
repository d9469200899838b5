package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley"
	"parley/fakeai"
	"parley/store/sqlite"
)

var (
	chaosKills = flag.Int("chaos.kills", 12, "how many servers TestChaos kills")
	chaosSeed  = flag.Uint64("chaos.seed", 0, "seed of TestChaos; 0 chooses one, which is printed")
)

const (
	chaosServers = 4
	chaosThreads = 6
	chaosClients = 8
	// chaosRenew is after how many kills new threads are begun.
	chaosRenew = 10
)

// chaos is a store with servers that are killed under load, and what their
// clients were told.
type chaos struct {
	t       *testing.T
	r       *rig
	threads []string

	mu      sync.Mutex
	random  *rand.Rand
	servers []*server
	asked   map[string]*question // by token
}

// question is what a client asked and what became of it, as far as it knows.
type question struct {
	token, thread string
	async         bool
	runID         string // of an async question, if the client was told
	answer        string // as the client saw it; empty if it did not
}

// Each question names its thread and a token of its own, and the fake's answer
// repeats both, so that whatever gets mixed up shows.
var chaosWords = regexp.MustCompile(`thread=(\S+) token=(\S+)`)

func chaosPrompt(thread, token string) string {
	return fmt.Sprintf("What of thread=%s token=%s and the rest?", thread, token)
}

func chaosAnswer(words []string) string {
	return fmt.Sprintf("This answers thread=%s token=%s, and here is the rest.", words[1], words[2])
}

func chaosReply(req *fakeai.Request) string {
	last := req.Messages[len(req.Messages)-1].Text
	words := chaosWords.FindStringSubmatch(last)
	if words == nil {
		return "no token in: " + last
	}
	return chaosAnswer(words)
}

// TestChaos kills servers at random under load and then looks into the store:
// what was answered is there, whole and once, and nothing is left undecided.
//
//	go test ./cmd/parley -run TestChaos -chaos.kills=200 -v
func TestChaos(t *testing.T) { //nolint:paralleltest // it wants the machine to itself
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed: -chaos.seed=%d", seed)
	c := &chaos{t: t, r: newRig(t), random: rand.New(rand.NewPCG(seed, 0)), asked: map[string]*question{}}
	began := time.Now()
	c.prepare()
	c.rage(*chaosKills)
	c.settle()
	c.check(time.Since(began))
}

func (c *chaos) intN(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// prepare scripts the upstream, starts the servers and begins the threads.
func (c *chaos) prepare() {
	c.t.Helper()
	c.r.up.Script("", fakeai.Script{Reply: chaosReply, Latency: 10 * time.Millisecond})
	for range 20_000 {
		c.r.up.Enqueue("", fakeai.Script{
			Reply:   chaosReply,
			Latency: time.Duration(c.intN(40)) * time.Millisecond,
			Chunks:  1 + c.intN(6), ChunkDelay: time.Duration(c.intN(8)) * time.Millisecond,
		})
	}
	c.servers = make([]*server, chaosServers)
	for i := range c.servers {
		c.servers[i] = c.r.serve()
	}
	c.begin(c.servers[0])
}

// begin begins new threads. The older ones are left, so that what is sent
// upstream does not grow with the length of the test.
func (c *chaos) begin(s *server) {
	c.t.Helper()
	for range chaosThreads {
		id := fmt.Sprintf("chaos-%d", len(c.threads))
		q := c.question(id, false)
		got := s.ok("completed", "chat", args{
			"prompt": chaosPrompt(id, q.token), "continuation_id": id, "new_thread": true,
		})
		c.mu.Lock()
		q.answer, q.runID = got.Content, got.Metadata.RunID
		c.threads = append(c.threads, id)
		c.mu.Unlock()
	}
}

// thread is one of the newest.
func (c *chaos) thread() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.threads[len(c.threads)-1-c.random.IntN(chaosThreads)]
}

func (c *chaos) question(thread string, async bool) *question {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &question{token: fmt.Sprintf("t%d-%08x", len(c.asked), c.random.Uint32()), thread: thread, async: async}
	c.asked[q.token] = q
	return q
}

// rage lets clients ask until enough servers were killed.
func (c *chaos) rage(kills int) {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for range chaosClients {
		clients.Go(func() {
			for ctx.Err() == nil {
				c.ask()
			}
		})
	}
	for n := range kills {
		if n%chaosRenew == chaosRenew-1 {
			c.begin(c.server(0))
		}
		// In the middle of things: some requests from now.
		if _, err := c.r.up.Await(deadline(c.t), c.arrived()+1+c.intN(12)); err != nil {
			c.t.Errorf("nobody asks any more: %v", err)
			break
		}
		i := c.intN(chaosServers)
		c.server(i).kill()
		c.replace(i, c.r.serve())
	}
	stop()
	clients.Wait()
}

func (c *chaos) arrived() int { return len(c.r.up.Requests()) }

func (c *chaos) server(i int) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[i]
}

func (c *chaos) replace(i int, s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i] = s
}

// ask asks one question and notes what came back.
func (c *chaos) ask() {
	s := c.server(c.intN(chaosServers))
	q := c.question(c.thread(), c.intN(3) == 0)
	a := args{"prompt": chaosPrompt(q.thread, q.token), "continuation_id": q.thread}
	if q.async {
		a["async"] = true
	}
	got, err := s.tool("chat", a).answer()
	switch {
	case errors.Is(err, errLost):
		// It may have died before this question; do not ask the dead in a hurry.
		<-s.exited
		return
	case err != nil:
		c.t.Errorf("%s: %v", q.token, err)
		return
	case got.isError:
		c.t.Errorf("%s: %s", q.token, got.text)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q.runID = got.Metadata.RunID
	if got.Status == "completed" {
		q.answer = got.Content
	} else if !q.async || got.Status != "processing" {
		c.t.Errorf("%s: status %s", q.token, got.Status)
	}
}

// settle kills what is left and lets one last server clean up.
func (c *chaos) settle() {
	c.t.Helper()
	for _, s := range c.servers {
		s.kill()
	}
	last := c.r.serve()
	db := c.r.store()
	until(c.t, db, "every run has ended", func() (bool, error) {
		live, err := db.Runs(deadline(c.t), parley.RunQuery{Principal: principal(), Live: true, Limit: 1})
		return len(live) == 0, err
	})
	last.close()
}

// check looks at everything that must be true now.
func (c *chaos) check(took time.Duration) {
	c.t.Helper()
	db := c.r.store()
	runs := c.checkRuns(db)
	turns := c.checkTurns(db, runs)
	again := c.checkRequests(runs)

	states := map[parley.State]int{}
	acknowledged, left := 0, 0
	for _, run := range runs {
		states[run.State]++
	}
	for _, q := range c.asked {
		if q.answer != "" {
			acknowledged++
		} else if q.runID != "" {
			left++
		}
	}
	for state := range states {
		if state != parley.StateCompleted && state != parley.StateInterrupted {
			c.t.Errorf("%d runs are %s", states[state], state)
		}
	}
	verdict := "nothing lost"
	if c.t.Failed() {
		verdict = "see above for what is wrong"
	}
	c.t.Logf("chaos: %d kills of %d servers in %s: %d questions, %d answers seen and %d async runs acknowledged, "+
		"%d runs stored (%d completed, %d interrupted), %d turns, %d upstream requests (%d asked again); %s",
		*chaosKills, chaosServers, took.Round(100*time.Millisecond), len(c.asked), acknowledged, left,
		len(runs), states[parley.StateCompleted], states[parley.StateInterrupted], turns, c.arrived(), again, verdict)
}

// checkRuns returns the runs by token.
func (c *chaos) checkRuns(db *sqlite.DB) map[string]parley.Run {
	c.t.Helper()
	list, err := db.Runs(deadline(c.t), parley.RunQuery{Principal: principal(), Limit: 1 << 20})
	if err != nil {
		c.t.Fatal(err)
	}
	runs := map[string]parley.Run{}
	for _, run := range list {
		words := chaosWords.FindStringSubmatch(run.Request.Prompt)
		if words == nil || words[1] != run.ThreadID {
			c.t.Errorf("run %s on %s asks %q", run.ID, run.ThreadID, run.Request.Prompt)
			continue
		}
		if other, twice := runs[words[2]]; twice {
			c.t.Errorf("%s has two runs, %s and %s", words[2], other.ID, run.ID)
		}
		runs[words[2]] = run
		if !run.State.Ended() || run.EndedAt.IsZero() || run.Result == nil {
			c.t.Errorf("run %s is %s and has not ended well", run.ID, run.State)
		}
		if run.State == parley.StateInterrupted && (run.Err == nil || run.Err.Code != parley.CodeRunInterrupted) {
			c.t.Errorf("run %s is interrupted with %v", run.ID, run.Err)
		}
	}
	for _, q := range c.asked {
		run, stored := runs[q.token]
		switch {
		case q.runID == "" && q.answer == "":
			// The client heard nothing; whatever happened is right.
		case !stored || run.ID != q.runID:
			c.t.Errorf("%s was acknowledged as %s and is lost", q.token, q.runID)
		case q.answer != "" && run.State != parley.StateCompleted:
			c.t.Errorf("%s was answered and is %s", q.token, run.State)
		case q.async && run.State != parley.StateCompleted && (run.State != parley.StateInterrupted || run.Attempt < 2):
			c.t.Errorf("%s was acknowledged and is %s after attempt %d", q.token, run.State, run.Attempt)
		}
	}
	return runs
}

// checkTurns compares the threads with the runs and with what clients saw.
func (c *chaos) checkTurns(db *sqlite.DB, runs map[string]parley.Run) int {
	c.t.Helper()
	answers := map[string]string{}
	for _, thread := range c.threads {
		for i, turn := range c.r.turns(db, thread) {
			words := chaosWords.FindStringSubmatch(turn.Question)
			switch {
			case turn.Number != i+1:
				c.t.Errorf("turn %d of %s has number %d", i+1, thread, turn.Number)
			case words == nil || words[1] != thread:
				c.t.Errorf("turn %d of %s asks %q", turn.Number, thread, turn.Question)
			case len(turn.Answers) != 1 || turn.Answers[0].Text != chaosAnswer(words):
				c.t.Errorf("turn %d of %s is torn: %q is answered with %+v", turn.Number, thread, turn.Question, turn.Answers)
			case answers[words[2]] != "":
				c.t.Errorf("%s is two turns", words[2])
			case runs[words[2]].ID != turn.RunID:
				c.t.Errorf("turn %d of %s belongs to run %s, the question to %s", turn.Number, thread, turn.RunID, runs[words[2]].ID)
			default:
				answers[words[2]] = turn.Answers[0].Text
			}
		}
	}
	for token, run := range runs {
		if (answers[token] != "") != run.State.Answered() {
			c.t.Errorf("%s is %s, and its turn holds %q", token, run.State, answers[token])
		}
	}
	for _, q := range c.asked {
		if q.answer != "" && answers[q.token] != q.answer {
			c.t.Errorf("%s was answered with %q and stored as %q", q.token, q.answer, answers[q.token])
		}
	}
	return len(answers)
}

// checkRequests looks at what went upstream and returns how many questions
// were asked twice. The fake never fails, so there are no retries: each request
// is one attempt of one run.
func (c *chaos) checkRequests(runs map[string]parley.Run) (again int) {
	c.t.Helper()
	times := map[string]int{}
	for n, req := range c.r.up.Requests() {
		text := req.Text()
		all := chaosWords.FindAllStringSubmatch(text, -1)
		if len(all) == 0 || len(req.Messages)%2 == 0 {
			c.t.Errorf("request %d holds %d messages: %.200q", n, len(req.Messages), text)
			continue
		}
		last := all[len(all)-1]
		times[last[2]]++
		for _, words := range all {
			if words[1] != last[1] {
				c.t.Errorf("a request on thread %s holds a token of %s", last[1], words[1])
			}
		}
		c.checkHistory(n, req)
	}
	for token, n := range times {
		q, run := c.asked[token], runs[token]
		limit := 1
		if q.async {
			limit = 2
		}
		if n > limit || n > max(1, run.Attempt) {
			c.t.Errorf("%s (async %t, attempt %d) was asked %d times", token, q.async, run.Attempt, n)
		}
		if n > 1 {
			again++
		}
	}
	for token, run := range runs {
		if run.State.Answered() && times[token] == 0 {
			c.t.Errorf("%s is answered and was never asked", token)
		}
	}
	return again
}

// checkHistory makes sure that each earlier question stands before its answer, once.
func (c *chaos) checkHistory(n int, req *fakeai.Request) {
	c.t.Helper()
	var seen []string
	for i := 0; i+1 < len(req.Messages); i += 2 {
		asked := chaosWords.FindStringSubmatch(req.Messages[i].Text)
		if asked == nil || !strings.HasSuffix(req.Messages[i+1].Text, chaosAnswer(asked)) || slices.Contains(seen, asked[2]) {
			c.t.Errorf("request %d: %q is followed by %q", n, req.Messages[i].Text, req.Messages[i+1].Text)
			return
		}
		seen = append(seen, asked[2])
	}
}
