package parley

import "encoding/json"

// Request is a call as a tool understood it: decoded and valid, nothing looked
// up yet. It is stored with the run, so that the run can be taken up elsewhere.
type Request struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
	// Model as the caller named it; empty and "auto" leave the choice to the router.
	Model string `json:"model,omitempty"`
	// Provider restricts the choice to one provider; empty for any.
	Provider string  `json:"provider,omitempty"`
	Options  Options `json:"options"`
	// ThreadID continues a thread; empty begins one. With NewThread it is the
	// id that the caller chose for the new thread.
	ThreadID  string `json:"thread_id,omitempty"`
	NewThread bool   `json:"new_thread,omitempty"`
	// Stamp is the date to put in front of the question; empty for none.
	Stamp string `json:"stamp,omitempty"`
	// IdempotencyKey makes a repeated call attach to the first one's run.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	Mode           Mode   `json:"mode"`
	Caller         Caller `json:"caller"`
	// Args are the fields that only the tool's own plan understands.
	Args json.RawMessage `json:"args,omitempty"`
}

// Caller is who asks, and from where.
type Caller struct {
	// Principal is the person or token; it walls threads off from each other.
	Principal string `json:"principal"`
	// Session is one connection; it is only used for fairness.
	Session string `json:"session,omitempty"`
	// Client is the client program's own name.
	Client string `json:"client,omitempty"`
	// Project is the git top of the caller's directory, or that directory.
	Project string `json:"project,omitempty"`
}

// Options are the knobs of a question. Zero means that the caller did not say.
type Options struct {
	Effort      Effort   `json:"effort,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Verbosity   string   `json:"verbosity,omitempty"`
	WebSearch   bool     `json:"web_search,omitempty"`
	// MediaResolution is low, medium or high, for models that look at images
	// more or less closely.
	MediaResolution string `json:"media_resolution,omitempty"`
	// MaxOutput caps the answer, in tokens; zero is the model's own limit.
	MaxOutput int `json:"max_output,omitempty"`
}

// Effort is how hard a model should think.
type Effort string

// The efforts, weakest first.
const (
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Efforts lists every effort, weakest first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}
