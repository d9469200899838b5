package mcpserver

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley"
)

// answer is a tool's answer before it is shaped for a client. Its JSON is the
// structured half; head and foot frame the text half.
type answer struct {
	Status string `json:"status"`
	// Body is Content, where there is or will be some; set when shaped.
	Body *string `json:"content,omitempty"`
	// Truncated says that Body is not all, and how to read on.
	Truncated *truncated `json:"truncated,omitempty"`
	// Message is what a tool has to say beside the run's own answer.
	Message      string        `json:"message,omitempty"`
	Async        bool          `json:"async_execution,omitempty"`
	Continuation *continuation `json:"continuation,omitempty"`
	Metadata     *metadata     `json:"metadata,omitempty"`
	Title        string        `json:"title,omitempty"`
	Run          *runInfo      `json:"run,omitempty"`
	Runs         *[]runRow     `json:"runs,omitempty"`
	Turns        []turnRow     `json:"turns,omitempty"`
	Models       any           `json:"models,omitempty"`
	Version      *Version      `json:"version,omitempty"`
	*problem

	Content    string `json:"-"`
	head, foot string
	// more is the id that check_status reads the rest with, and moreArgs what
	// else it needs, if the answer has to be cut.
	more, moreArgs string
	isError        bool
}

type truncated struct {
	Shown int `json:"shown"`
	Total int `json:"total"`
	// Next is the continuation_id to pass to check_status.
	Next string `json:"next,omitempty"`
}

type continuation struct {
	ID           string `json:"id"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model,omitempty"`
	MessageCount int    `json:"messageCount"`
	Status       string `json:"status,omitempty"`
}

type metadata struct {
	Model        string      `json:"model,omitempty"`
	Provider     string      `json:"provider,omitempty"`
	Usage        *usage      `json:"usage,omitempty"`
	CostUSD      *float64    `json:"cost_usd"`
	ResponseTime int64       `json:"response_time_ms"`
	FinishReason string      `json:"finish_reason,omitempty"`
	RunID        string      `json:"run_id"`
	Route        *routeTaken `json:"route,omitempty"`
	Notes        []string    `json:"notes,omitempty"`
}

type usage struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	Total         int `json:"total_tokens"`
	Cached        int `json:"cached_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	Reasoning     int `json:"reasoning_tokens"`
}

type routeTaken struct {
	Requested string           `json:"requested"`
	Chosen    string           `json:"chosen"`
	Reason    string           `json:"reason"`
	Attempts  []parley.Attempt `json:"attempts"`
}

// problem is the structured half of an error.
type problem struct {
	Error          string           `json:"error"`
	Code           parley.Code      `json:"code"`
	Provider       string           `json:"provider,omitempty"`
	RetryAfter     int              `json:"retry_after,omitempty"`
	Retryable      bool             `json:"retryable"`
	Hint           string           `json:"hint,omitempty"`
	MaxTokens      int              `json:"max_tokens,omitempty"`
	ProvidedTokens int              `json:"provided_tokens,omitempty"`
	Attempts       []parley.Attempt `json:"attempts,omitempty"`
}

func problemOf(err *parley.Error) *problem {
	if err == nil { // a run from a store that somebody else wrote
		err = parley.Errorf(parley.CodeInternal, "the run ended without saying why")
	}
	return &problem{
		Error: err.Message, Code: err.Code, Provider: err.Provider, Retryable: err.Retryable, Hint: err.Hint,
		RetryAfter: int(math.Ceil(err.RetryAfter.Seconds())), MaxTokens: err.MaxTokens,
		ProvidedTokens: err.ProvidedTokens, Attempts: err.Attempts,
	}
}

// failure is the answer of a call that failed before it had a run.
func failure(tool string, err *parley.Error) *answer {
	a := &answer{Status: "failed", problem: problemOf(err), isError: true}
	a.head = line("FAILED", strings.ToUpper(tool), string(err.Code), modelOf(err))
	return a
}

// modelOf is the model an error is about, or just its provider.
func modelOf(err *parley.Error) string {
	return strings.TrimSuffix(parley.ModelRef{Provider: err.Provider, Name: err.Model}.String(), "/")
}

// line joins the parts that are there.
func line(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, " | ")
}

// ended is the answer of a run that has ended.
func ended(run parley.Run) *answer {
	result := run.Result
	if result == nil {
		result = &parley.Result{}
	}
	a := &answer{
		Status: string(run.State), Content: result.Content, Title: run.Title,
		Continuation: &continuation{
			ID: run.ThreadID, Provider: result.Model.Provider, Model: result.Model.Name, MessageCount: result.Messages,
		},
		Metadata: metadataOf(run, result),
		more:     run.ID,
	}
	tool, model := strings.ToUpper(run.Tool), result.Model.String()
	seconds := fmt.Sprintf("%.1fs", run.Elapsed(run.EndedAt).Seconds())
	switch run.State {
	case parley.StateCompleted, parley.StateCompletedWithErrors:
		a.head = line(strings.ToUpper(string(run.State)), tool, run.ThreadID, model, seconds,
			fmt.Sprintf("%d tokens", result.Usage.Total()), cost(result.Usage))
		a.foot = fmt.Sprintf("Continue this thread from any tool or model with continuation_id: %s", run.ThreadID)
	case parley.StateCancelled:
		a.head = line("CANCELLED", tool, run.ThreadID, model, seconds)
		a.problem = problemOf(run.Err)
		a.foot = asBefore(run)
	default:
		// To the outside an interrupted run is a failed one with its own code.
		a.Status = string(parley.StateFailed)
		a.problem = problemOf(run.Err)
		a.head = line("FAILED", tool, string(a.Code), run.ThreadID, model)
		a.foot = asBefore(run)
	}
	return a
}

func asBefore(run parley.Run) string {
	return fmt.Sprintf("The thread is as it was before this call; ask again with continuation_id: %s", run.ThreadID)
}

// going is the answer about a run that is still at work: the draft so far.
func going(run parley.Run, draft string, now time.Time) *answer {
	model, chosen, before := "", parley.ModelRef{}, 0
	if len(run.Seats) > 0 {
		chosen, before = run.Seats[0].Decision.Chosen, run.Seats[0].Shown.Through
		model = chosen.String()
	}
	a := &answer{
		Status: "processing", Content: draft, Async: true, Title: run.Title,
		Continuation: &continuation{
			ID: run.ThreadID, Provider: chosen.Provider, Model: chosen.Name, MessageCount: 2 * before, Status: "processing",
		},
		Metadata: metadataOf(run, &parley.Result{Model: chosen}),
		more:     run.ID,
	}
	a.Metadata.ResponseTime = run.Elapsed(now).Milliseconds()
	a.head = line("PROCESSING", strings.ToUpper(run.Tool), run.ThreadID,
		fmt.Sprintf("%d/%d", run.Progress.Done, max(1, run.Progress.Total)),
		"Started "+run.CreatedAt.UTC().Format(time.RFC3339), model)
	if draft == "" && run.Progress.Stage != "" {
		a.foot = "Now: " + run.Progress.Stage + ". "
	}
	a.foot += fmt.Sprintf("Read the answer with check_status, continuation_id: %s (wait_seconds waits for it). "+
		"The run goes on only while some parley process lives.", run.ID)
	return a
}

// partial is the answer of a call that hands its run over.
func partial(run parley.Run, draft string, now time.Time) *answer {
	a := going(run, draft, now)
	a.Status = "partial"
	a.Continuation.Status = "partial"
	a.head = "PARTIAL" + strings.TrimPrefix(a.head, "PROCESSING")
	if draft != "" {
		a.foot = "This is the answer so far; the run goes on. " + a.foot
	} else {
		a.foot = "There is nothing to read yet; the run goes on. " + a.foot
	}
	return a
}

func metadataOf(run parley.Run, r *parley.Result) *metadata {
	m := &metadata{
		Model: r.Model.Name, Provider: r.Model.Provider, RunID: run.ID,
		ResponseTime: run.Elapsed(run.EndedAt).Milliseconds(), FinishReason: r.FinishReason, Notes: r.Notes,
	}
	if run.State.Ended() {
		m.Usage = &usage{
			Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens, Total: r.Usage.Total(),
			Cached: r.Usage.CachedInputTokens, CacheCreation: r.Usage.CacheCreationInput, Reasoning: r.Usage.ReasoningTokens,
		}
		if r.Usage.CostMicros != nil {
			usd := float64(*r.Usage.CostMicros) / 1e6
			m.CostUSD = &usd
		}
	}
	if len(run.Seats) > 0 {
		d := run.Seats[0].Decision
		m.Route = &routeTaken{Requested: d.Requested, Chosen: d.Chosen.String(), Reason: string(d.Reason), Attempts: r.Attempts}
		if m.Notes == nil {
			m.Notes = run.Seats[0].Notes
		}
	}
	if m.Route != nil && m.Route.Attempts == nil {
		m.Route.Attempts = []parley.Attempt{}
	}
	return m
}

func cost(u parley.Usage) string {
	switch {
	case u.CostMicros == nil:
		return "cost unknown"
	case *u.CostMicros == 0:
		return "$0"
	}
	return fmt.Sprintf("$%.4f", math.Max(float64(*u.CostMicros)/1e6, 0.0001))
}

// shape makes the result that this client's model will see whole.
func (s *server) shape(c call, a *answer) *mcp.CallToolResult {
	a.cut(c.client.chars, c.args.integer("from"))
	a.settle()
	result := &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: a.text()}},
		IsError: a.isError,
	}
	if c.client.shows != structuredOnly {
		result.StructuredContent = a
	}
	return result
}

// settle decides whether the structured half has content.
func (a *answer) settle() {
	if a.Content != "" || a.Continuation != nil && a.problem == nil {
		a.Body = &a.Content
	}
}

// text is complete on its own: a status line, the answer, and what comes next.
func (a *answer) text() string {
	parts := []string{a.head}
	if a.problem != nil {
		parts = append(parts, strings.TrimSpace(a.Error+"\n"+a.Hint))
		if a.Content != "" {
			parts = append(parts, "What had arrived:\n"+a.Content)
		}
	} else if a.Content != "" {
		parts = append(parts, a.Content)
	}
	if a.Metadata != nil && len(a.Metadata.Notes) > 0 {
		parts = append(parts, "Notes: "+strings.Join(a.Metadata.Notes, "; "))
	}
	if a.foot != "" {
		parts = append(parts, a.foot)
	}
	return strings.Join(parts, "\n\n")
}

// AnswerOf is the structured answer about a run, for programs that are not MCP
// clients.
func AnswerOf(run parley.Run, draft string, now time.Time) any {
	a := aboutRun(run, draft, now)
	a.settle()
	return a
}

// TextOf is the text answer about a run.
func TextOf(run parley.Run, draft string, now time.Time) string {
	return aboutRun(run, draft, now).text()
}

// Headline is the status line of a run that has ended.
func Headline(run parley.Run) string { return ended(run).head }

// StatusOf is a run's state as the outside knows it.
func StatusOf(s parley.State) string { return outward(s) }
