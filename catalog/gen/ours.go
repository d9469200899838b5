package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/pelletier/go-toml/v2"
)

// ours is data/ours.toml: what we know and upstream does not, or has wrong.
type ours struct {
	Providers []ourProvider `toml:"provider"`
}

type ourProvider struct {
	ID string `toml:"id"`
	// Vendor is the bare word that means this provider.
	Vendor string `toml:"vendor"`
	// RowsOf makes the provider serve another's models.
	RowsOf string `toml:"rows_of"`
	// Skip are the upstream models to leave out.
	Skip []string `toml:"skip"`
	// Free are the models that cost nothing; any other price of zero is unknown.
	Free []string `toml:"free"`
	// DoubtfulRatio is how many times an input token an output token may cost
	// before we do not believe the price; zero believes everything.
	DoubtfulRatio float64 `toml:"doubtful_ratio"`
	// CacheWrite is how many times fresh input writing to a cache costs at least.
	CacheWrite float64 `toml:"cache_write"`
	// GuessedOutput caps output limits that upstream made up as 90 % of the window.
	GuessedOutput int `toml:"guessed_output"`
	// Efforts are the levels of models that think and of which upstream does not
	// say which levels they take.
	Efforts []string `toml:"efforts"`
	// Rules hold for all models that match, in order.
	Rules []rule `toml:"rules"`
	// Models come first, in order. The rest of upstream's follow by name.
	Models []ourModel `toml:"models"`
}

type rule struct {
	Match []string `toml:"match"`
	// Reasons restricts the rule to models that think, or that do not.
	Reasons *bool `toml:"reasons"`
	facts
}

type ourModel struct {
	Name string `toml:"name"`
	// Like takes upstream's word about another name: one of the same provider,
	// or "provider:name".
	Like      string   `toml:"like"`
	Class     string   `toml:"class"`
	Successor string   `toml:"successor"`
	Aliases   []string `toml:"aliases"`
	facts
}

// facts are what rules and models may correct. What is absent stays.
type facts struct {
	Context          *int      `toml:"context"`
	MaxOutput        *int      `toml:"max_output"`
	Efforts          *[]string `toml:"efforts"`
	Thinking         *string   `toml:"thinking"`
	MaxThinking      *int      `toml:"max_thinking"`
	FixedTemperature *bool     `toml:"fixed_temperature"`
	Images           *bool     `toml:"images"`
	WebSearch        *bool     `toml:"web_search"`
	Verbosity        *bool     `toml:"verbosity"`
	Price            *ourPrice `toml:"price"`
	// NoPrice forgets a price that we do not believe.
	NoPrice bool `toml:"no_price"`
}

// ourPrice is in dollars per million tokens, as vendors print it.
type ourPrice struct {
	Input       float64 `toml:"input"`
	CachedInput float64 `toml:"cached_input"`
	CacheWrite  float64 `toml:"cache_write"`
	Output      float64 `toml:"output"`
}

func readOurs(name string) (ours, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return ours{}, err
	}
	var o ours
	in := toml.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&o); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			return ours{}, fmt.Errorf("%s:\n%s", name, strict.String())
		}
		return ours{}, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// matches reports whether a name is one of the patterns of [path.Match].
func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if ok, err := path.Match(pattern, name); err != nil {
			panic(fmt.Sprintf("the pattern %q: %v", pattern, err))
		} else if ok {
			return true
		}
	}
	return false
}
