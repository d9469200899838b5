package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley"
)

type runInfo struct {
	ID             string       `json:"id"`
	Tool           string       `json:"tool"`
	StartedAt      string       `json:"started_at"`
	ElapsedSeconds float64      `json:"elapsed_seconds"`
	Progress       progressInfo `json:"progress"`
}

type progressInfo struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Stage string `json:"stage"`
}

type runRow struct {
	RunID          string  `json:"run_id"`
	ContinuationID string  `json:"continuation_id"`
	Tool           string  `json:"tool"`
	Status         string  `json:"status"`
	Model          string  `json:"model"`
	Title          string  `json:"title"`
	StartedAt      string  `json:"started_at"`
	ElapsedSeconds float64 `json:"elapsed_seconds"`
}

type turnRow struct {
	Turn     int    `json:"turn"`
	Tool     string `json:"tool"`
	Model    string `json:"model,omitempty"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	AskedAt  string `json:"asked_at"`
}

// recent is how many runs the list shows.
const recent = 10

func (s *server) checkStatus(ctx context.Context, c call) (*answer, error) {
	id := c.args.text("continuation_id")
	if id == "" {
		return s.recentRuns(ctx, c)
	}
	if whole, from, ok := position(id); ok {
		id = whole
		c.args["from"] = from // where shape begins
	}
	if c.args.flag("full_history") {
		return s.history(ctx, c, id)
	}
	run, err := s.cfg.Engine.RunOf(ctx, id, c.caller.Principal)
	if err != nil {
		return nil, err
	}
	if err := s.waitFor(ctx, c, run); err != nil {
		return nil, err
	}
	view, err := s.cfg.Engine.Look(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return aboutRun(view.Run, view.Draft, s.cfg.Clock.Now()), nil
}

// position splits an id with a place to read on from, such as run_x:12000, which
// is how a cut answer says where it goes on.
func position(id string) (whole string, from float64, ok bool) {
	whole, at, ok := strings.Cut(id, ":")
	n, err := strconv.ParseUint(at, 10, 31)
	return whole, float64(n), ok && err == nil
}

// waitFor waits for the run's end as long as the caller asked and its client
// allows. That the time passed is not an error.
func (s *server) waitFor(ctx context.Context, c call, run parley.Run) error {
	wait := 0.0
	if n := c.args.number("wait_seconds"); n != nil {
		wait = *n
	}
	if wait <= 0 || run.State.Ended() {
		return nil
	}
	limit := min(time.Duration(wait*float64(time.Second)), c.client.block)
	waiting, cancel := context.WithTimeoutCause(ctx, limit, errPatience)
	defer cancel()
	report := c.progress.begin(ctx, s.cfg.Engine)
	defer report.stop()
	report.on(run.ID)
	if _, err := s.cfg.Engine.Await(waiting, run.ID); err != nil && !errors.Is(err, errPatience) {
		return err
	}
	return nil
}

// aboutRun has the answer's shape plus what is known of the run itself. Asking
// about a failed run is not an error.
func aboutRun(run parley.Run, draft string, now time.Time) *answer {
	var a *answer
	if run.State.Ended() {
		a = ended(run)
	} else {
		a = going(run, draft, now)
	}
	progress := run.Progress
	switch {
	case run.State.Answered():
		progress.Stage, progress.Done = "done", progress.Total
	case run.State.Ended():
		progress.Stage = outward(run.State)
	}
	a.Run = &runInfo{
		ID: run.ID, Tool: run.Tool, StartedAt: stamp(run.CreatedAt),
		ElapsedSeconds: seconds(run.Elapsed(now)), Progress: progressInfo{progress.Done, progress.Total, progress.Stage},
	}
	return a
}

func (s *server) recentRuns(ctx context.Context, c call) (*answer, error) {
	runs, err := s.cfg.Engine.Runs(ctx, parley.RunQuery{Principal: c.caller.Principal, Limit: recent})
	if err != nil {
		return nil, err
	}
	rows, lines, now := []runRow{}, []string{}, s.cfg.Clock.Now()
	for _, run := range runs {
		r := runRow{
			RunID: run.ID, ContinuationID: run.ThreadID, Tool: run.Tool, Status: outward(run.State),
			Title: run.Title, StartedAt: stamp(run.CreatedAt), ElapsedSeconds: seconds(run.Elapsed(now)),
		}
		if len(run.Seats) > 0 {
			r.Model = run.Seats[0].Decision.Chosen.String()
		}
		rows = append(rows, r)
		lines = append(lines, line(strings.ToUpper(r.Status), strings.ToUpper(r.Tool), r.RunID, r.Model,
			fmt.Sprintf("%.1fs", r.ElapsedSeconds), r.Title))
	}
	a := &answer{Status: "completed", Runs: &rows}
	a.head = line("COMPLETED", "CHECK_STATUS", counted(len(rows), "run"))
	if len(rows) == 0 {
		lines = append(lines, "No runs yet.")
	}
	a.foot = strings.Join(lines, "\n")
	return a, nil
}

// outward is a state as the outside knows it.
func outward(s parley.State) string {
	switch s {
	case parley.StateQueued, parley.StateRunning:
		return "processing"
	case parley.StateInterrupted:
		return "failed"
	default:
		return string(s)
	}
}

func (s *server) history(ctx context.Context, c call, id string) (*answer, error) {
	thread, err := s.cfg.Engine.ThreadOf(ctx, id, c.caller.Principal)
	if err != nil {
		return nil, err
	}
	turns, err := s.cfg.Store.Turns(ctx, thread.ID, parley.Span{From: 1, Through: thread.Turns})
	if err != nil {
		return nil, err
	}
	a := &answer{
		Status: "completed", Title: thread.Title,
		Continuation: &continuation{
			ID: thread.ID, Provider: thread.LastModel.Provider, Model: thread.LastModel.Name, MessageCount: thread.Messages(),
		},
		more: thread.ID, moreArgs: ", full_history: true",
	}
	var text []string
	for _, t := range turns {
		for _, said := range t.Answers {
			a.Turns = append(a.Turns, turnRow{
				Turn: t.Number, Tool: t.Tool, Model: said.Model.String(),
				Question: t.Question, Answer: said.Text, AskedAt: stamp(t.AskedAt),
			})
			text = append(text, fmt.Sprintf("--- Turn %d (%s) ---\n%s\n\n--- %s ---\n%s", t.Number, t.Tool, t.Question, said.Model, said.Text))
		}
	}
	a.head = line("COMPLETED", "CHECK_STATUS", thread.ID, counted(thread.Turns, "turn"))
	a.Content = strings.Join(text, "\n\n")
	a.foot = "Continue this thread with continuation_id: " + thread.ID
	return a, nil
}

// cancelJob stops a run, or all live runs of a thread.
func (s *server) cancelJob(ctx context.Context, c call) (*answer, error) {
	id := c.args.text("continuation_id")
	newest, err := s.cfg.Engine.RunOf(ctx, id, c.caller.Principal)
	if err != nil {
		return nil, err
	}
	targets := []parley.Run{newest}
	if !parley.IsRunID(id) {
		live, err := s.cfg.Engine.Runs(ctx, parley.RunQuery{
			Principal: c.caller.Principal, ThreadID: newest.ThreadID, Live: true, Limit: 1000,
		})
		if err != nil {
			return nil, err
		}
		if len(live) > 0 {
			targets = live
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.client.block)
	defer cancel()
	last, stopped, err := s.cancelAll(ctx, targets)
	if err != nil {
		return nil, err
	}
	a := aboutRun(last, "", s.cfg.Clock.Now())
	switch {
	case stopped == 0:
		a.Message = "Nothing was cancelled: the run had ended already."
	case len(targets) > 1:
		a.Message = fmt.Sprintf("%d of %d runs of this thread were cancelled.", stopped, len(targets))
	default:
		a.Message = "The run was cancelled."
	}
	a.foot = strings.TrimSpace(a.Message + "\n\n" + a.foot)
	return a, nil
}

// cancelAll tells all runs to stop before it waits for any of them.
func (s *server) cancelAll(ctx context.Context, targets []parley.Run) (last parley.Run, stopped int, err error) {
	for _, run := range targets {
		err = errors.Join(err, s.cfg.Engine.RequestCancel(ctx, run.ID))
	}
	for _, run := range targets {
		ended, awaitErr := s.cfg.Engine.Await(ctx, run.ID)
		if awaitErr != nil {
			err = errors.Join(err, awaitErr)
			continue
		}
		last = ended
		if !run.State.Ended() && ended.State == parley.StateCancelled {
			stopped++
		}
	}
	return last, stopped, err
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func seconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Millisecond)) / float64(time.Second)
}
