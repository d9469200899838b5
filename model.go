package parley

import (
	"fmt"
	"slices"
)

// Limits of a model nobody told us about.
const (
	UnknownContext   = 32_768
	UnknownMaxOutput = 4_096
)

// DefaultTemperature is sent where the caller named none and the model takes one.
const DefaultTemperature = 0.5

// UnknownModel is a model that is in no catalogue, with assumed limits. OpenAI's
// unknown models are probably new ones that reason, and those refuse a
// temperature.
func UnknownModel(provider, name string) Model {
	return Model{
		ModelRef: ModelRef{Provider: provider, Name: name}, Unknown: true, OwnTemperature: provider == "openai",
		Context: UnknownContext, MaxOutput: UnknownMaxOutput,
	}
}

// ModelRef names a model at a provider.
type ModelRef struct {
	Provider string `json:"provider"`
	// Name is the bare name that is sent upstream.
	Name string `json:"name"`
}

// String returns provider/name.
func (r ModelRef) String() string {
	if r.Provider == "" {
		return r.Name
	}
	return r.Provider + "/" + r.Name
}

// Class orders models by what they are for.
type Class string

// The classes that the router picks from.
const (
	ClassFast     Class = "fast"
	ClassBalanced Class = "balanced"
	ClassDeep     Class = "deep"
)

// Model is what is known about one model at one provider.
type Model struct {
	ModelRef

	Aliases []string
	// Successor is the model to ask instead, for names that are no longer served.
	Successor string
	Class     Class
	Context   int
	MaxOutput int
	// Efforts the model accepts, weakest first; empty if it takes none.
	Efforts []Effort
	// Thinking is how the vendor wants to be told the effort.
	Thinking Thinking
	// MaxThinking bounds a thinking budget, in tokens; zero if there is none.
	MaxThinking int
	// FixedTemperature models refuse a temperature. OwnTemperature models are
	// sent one only if the caller named it, because nobody knows whether they
	// take it.
	FixedTemperature bool
	OwnTemperature   bool
	Images           bool
	WebSearch        bool
	Verbosity        bool
	// Price is nil where it is unknown.
	Price *Price
	// Unknown models are not in the catalogue; their limits are assumed.
	Unknown bool
}

// Reasons reports whether the model thinks before it answers, which makes its
// first byte late.
func (m Model) Reasons() bool { return len(m.Efforts) > 0 }

// Fit adapts options to what the model takes. What had to go is said in notes,
// but only for what the caller asked for.
func (m Model) Fit(o Options) (fitted Options, notes []string) {
	fitted = o
	if o.Effort != "" {
		fitted.Effort = m.nearestEffort(o.Effort)
		switch {
		case fitted.Effort == "":
			notes = append(notes, fmt.Sprintf("reasoning_effort dropped: %s has no effort levels", m.Name))
		case fitted.Effort != o.Effort:
			notes = append(notes, fmt.Sprintf("reasoning_effort %s became %s, the nearest level of %s", o.Effort, fitted.Effort, m.Name))
		}
	} else if slices.Contains(m.Efforts, EffortMedium) {
		fitted.Effort = EffortMedium
	}
	if o.Temperature == nil && !m.FixedTemperature && !m.OwnTemperature {
		usual := DefaultTemperature
		fitted.Temperature = &usual
	}
	if o.Temperature != nil && m.FixedTemperature {
		fitted.Temperature = nil
		notes = append(notes, fmt.Sprintf("temperature dropped: %s takes none", m.Name))
	}
	if o.Verbosity != "" && !m.Verbosity {
		fitted.Verbosity = ""
		notes = append(notes, fmt.Sprintf("verbosity dropped: %s does not take it", m.Name))
	}
	if o.WebSearch && !m.WebSearch {
		fitted.WebSearch = false
		notes = append(notes, fmt.Sprintf("use_websearch dropped: %s cannot search the web", m.Name))
	}
	if m.MaxOutput > 0 && o.MaxOutput > m.MaxOutput {
		fitted.MaxOutput = m.MaxOutput
		notes = append(notes, fmt.Sprintf("max_output_tokens lowered to %d, the limit of %s", m.MaxOutput, m.Name))
	}
	return fitted, notes
}

// nearestEffort prefers a stronger level over a weaker one.
func (m Model) nearestEffort(want Effort) Effort {
	if len(m.Efforts) == 0 {
		return ""
	}
	order := Efforts()
	rank := slices.Index(order, want)
	for _, have := range m.Efforts {
		if slices.Index(order, have) >= rank {
			return have
		}
	}
	return m.Efforts[len(m.Efforts)-1]
}

// Thinking is a way of switching a model's thinking.
type Thinking string

// The ways. The zero value sends the effort as a word, as OpenAI does.
const (
	ThinkingByEffort Thinking = ""
	// ThinkingByBudget sends a number of tokens.
	ThinkingByBudget Thinking = "budget"
	// ThinkingByLevel sends one of the vendor's own few words.
	ThinkingByLevel Thinking = "level"
	// ThinkingAdaptive lets the model decide, steered by an effort word.
	ThinkingAdaptive Thinking = "adaptive"
)

// Price is in micro-dollars per million tokens.
type Price struct {
	Input       int64
	CachedInput int64
	CacheWrite  int64
	Output      int64
	// Long replaces the whole price for a request with more than LongAbove input
	// tokens, cached ones included; nil if there is none.
	LongAbove int
	Long      *Price
}

// Usage counts tokens as the provider reported them. InputTokens includes the
// cached ones, OutputTokens the reasoning.
type Usage struct {
	InputTokens        int `json:"input_tokens"`
	OutputTokens       int `json:"output_tokens"`
	CachedInputTokens  int `json:"cached_input_tokens"`
	CacheCreationInput int `json:"cache_creation_input_tokens"`
	ReasoningTokens    int `json:"reasoning_tokens"`
	// CostMicros is the cost in micro-dollars; nil where the price is unknown.
	CostMicros *int64 `json:"cost_micros,omitempty"`
}

// Total is the sum a bill would show.
func (u Usage) Total() int { return u.InputTokens + u.OutputTokens }

// Add returns the sum of two usages. An unknown cost makes the sum unknown.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		InputTokens:        u.InputTokens + v.InputTokens,
		OutputTokens:       u.OutputTokens + v.OutputTokens,
		CachedInputTokens:  u.CachedInputTokens + v.CachedInputTokens,
		CacheCreationInput: u.CacheCreationInput + v.CacheCreationInput,
		ReasoningTokens:    u.ReasoningTokens + v.ReasoningTokens,
	}
	if u.CostMicros != nil && v.CostMicros != nil {
		total := *u.CostMicros + *v.CostMicros
		sum.CostMicros = &total
	}
	return sum
}

// Priced returns u with its cost filled in from the price list, unless the
// provider reported one. It rounds up: a bill is never shown too small.
func (u Usage) Priced(p *Price) Usage {
	if u.CostMicros != nil || p == nil {
		return u
	}
	for p.Long != nil && u.InputTokens > p.LongAbove {
		p = p.Long
	}
	fresh := max(0, u.InputTokens-u.CachedInputTokens-u.CacheCreationInput)
	sum := int64(fresh)*p.Input + int64(u.CachedInputTokens)*p.CachedInput +
		int64(u.CacheCreationInput)*p.CacheWrite + int64(u.OutputTokens)*p.Output
	cost := (sum + 999_999) / 1_000_000
	u.CostMicros = &cost
	return u
}
