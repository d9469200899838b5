package parley

// Decision is which model a seat got, and why. It is made once, before the run
// starts, and recorded with it.
type Decision struct {
	// Requested is the name as the caller gave it; "auto" if none was given.
	Requested string   `json:"requested"`
	Chosen    ModelRef `json:"chosen"`
	Reason    Reason   `json:"reason"`
	// Option is what the name carried after its colon; already applied to the options.
	Option string `json:"option,omitempty"`
	// Candidates are the models that were considered, best first, with why each
	// of the others was not taken.
	Candidates []Candidate `json:"candidates,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

// Reason is a code for why a model was chosen.
type Reason string

// The reasons of a decision.
const (
	ReasonExplicit        Reason = "explicit"
	ReasonThreadModel     Reason = "thread_model"
	ReasonEnv             Reason = "env"
	ReasonAutoToolDefault Reason = "auto_tool_default"
	ReasonOnlyOne         Reason = "only_one"
)

// Candidate is a model the router looked at.
type Candidate struct {
	Model string `json:"model"`
	// Rejected says why it was not taken; empty for the chosen one.
	Rejected string `json:"rejected,omitempty"`
}
