package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"parley"
)

// provider is one of models.json.
type provider struct {
	ID     string `json:"id"`
	Vendor string `json:"vendor,omitempty"`
	RowsOf string `json:"rows_of,omitempty"`
	Models []row  `json:"models,omitempty"`
}

// row is one model of models.json. Prices are in micro-dollars per million tokens.
type row struct {
	Name             string   `json:"name"`
	Class            string   `json:"class,omitempty"`
	Successor        string   `json:"successor,omitempty"`
	Context          int      `json:"context"`
	MaxOutput        int      `json:"max_output"`
	Efforts          []string `json:"efforts,omitempty"`
	Thinking         string   `json:"thinking,omitempty"`
	MaxThinking      int      `json:"max_thinking,omitempty"`
	FixedTemperature bool     `json:"fixed_temperature,omitempty"`
	Images           bool     `json:"images,omitempty"`
	WebSearch        bool     `json:"web_search,omitempty"`
	Verbosity        bool     `json:"verbosity,omitempty"`
	Aliases          []string `json:"aliases,omitempty"`
	Price            *price   `json:"price,omitempty"`
}

type price struct {
	rates
	// Tiers replace the whole price for requests with more input than Above.
	Tiers []tier `json:"tiers,omitempty"`
}

type tier struct {
	Above int `json:"above"`
	rates
}

type rates struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input"`
	CacheWrite  int64 `json:"cache_write"`
	Output      int64 `json:"output"`
}

// transform makes the catalogue out of what others and what we know.
func transform(up upstream, own ours) ([]provider, error) {
	var providers []provider
	for _, p := range own.Providers {
		made := provider{ID: p.ID, Vendor: p.Vendor, RowsOf: p.RowsOf}
		t := transformer{ourProvider: p, up: up, taken: map[string]bool{}}
		if err := t.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ID, err)
		}
		made.Models = t.rows
		providers = append(providers, made)
	}
	return providers, nil
}

type transformer struct {
	ourProvider
	up    upstream
	rows  []row
	taken map[string]bool
}

func (t *transformer) run() error {
	for _, m := range t.Models {
		r, err := t.own(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		t.rows = append(t.rows, r)
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			t.taken[strings.ToLower(name)] = true
		}
	}
	for _, known := range t.up.Providers[t.ID] {
		if t.taken[strings.ToLower(known.ID)] || matches(t.Skip, known.ID) {
			continue
		}
		r := t.fromUpstream(known.ID, known)
		t.applyRules(&r, known.Reasons)
		t.rows = append(t.rows, r)
	}
	return nil
}

// own is a model that we list ourselves.
func (t *transformer) own(m ourModel) (row, error) {
	known, isKnown, err := t.lookup(m)
	if err != nil {
		return row{}, err
	}
	r := row{Name: m.Name}
	if isKnown {
		r = t.fromUpstream(m.Name, known)
	}
	t.applyRules(&r, known.Reasons || m.Efforts != nil)
	m.apply(&r)
	r.Class, r.Successor, r.Aliases = m.Class, m.Successor, m.Aliases
	if r.Successor != "" {
		r.Price = nil // nobody is ever billed for it
	}
	if r.Context == 0 || r.MaxOutput == 0 {
		return row{}, errors.New("upstream does not know it, so context and max_output have to be given")
	}
	return r, nil
}

func (t *transformer) lookup(m ourModel) (upstreamModel, bool, error) {
	provider, name := t.ID, m.Name
	if m.Like != "" {
		name = m.Like
		if other, of, ok := strings.Cut(m.Like, ":"); ok {
			provider, name = other, of
		}
	}
	for _, known := range t.up.Providers[provider] {
		if known.ID == name {
			return known, true, nil
		}
	}
	if m.Like != "" {
		return upstreamModel{}, false, fmt.Errorf("upstream does not know %q, which it is like", m.Like)
	}
	return upstreamModel{}, false, nil
}

func (t *transformer) fromUpstream(name string, known upstreamModel) row {
	r := row{
		Name: name, Context: known.Context, MaxOutput: t.maxOutput(known), Images: known.Images,
		FixedTemperature: known.NoTemperature, Efforts: t.efforts(known), Price: t.price(name, known.Cost),
	}
	if known.Adaptive && t.ID == "anthropic" {
		r.Thinking = string(parley.ThinkingAdaptive)
	}
	return r
}

func (t *transformer) maxOutput(known upstreamModel) int {
	if guess := known.Context * 9 / 10; t.GuessedOutput > 0 && known.MaxOutput == guess {
		return min(guess, t.GuessedOutput)
	}
	return known.MaxOutput
}

// efforts: a level that upstream does not mention is taken if the provider's
// models that think usually take it.
func (t *transformer) efforts(known upstreamModel) []string {
	if !known.Reasons || known.NoEffort {
		return nil
	}
	var efforts []string
	for _, effort := range parley.Efforts() {
		word, said := known.Levels[string(effort)]
		if said && word != nil || !said && slices.Contains(t.Efforts, string(effort)) {
			efforts = append(efforts, string(effort))
		}
	}
	return efforts
}

func (t *transformer) price(name string, cost upstreamPrice) *price {
	base := upstreamTier{Input: cost.Input, Output: cost.Output, CacheRead: cost.CacheRead, CacheWrite: cost.CacheWrite}
	switch {
	case matches(t.Free, name):
		return &price{}
	case cost.Input == 0 || cost.Output == 0:
		return nil
	case t.DoubtfulRatio > 0 && cost.Output > t.DoubtfulRatio*cost.Input:
		return nil
	}
	p := &price{rates: base.rates(t.CacheWrite)}
	for _, dearer := range cost.Tiers {
		if dearer.Input > 0 && dearer.Output > 0 {
			p.Tiers = append(p.Tiers, tier{Above: dearer.Above, rates: dearer.rates(t.CacheWrite)})
		}
	}
	slices.SortFunc(p.Tiers, func(a, b tier) int { return a.Above - b.Above })
	return p
}

// rates: without a price of its own, what is read from a cache costs as much as
// what is fresh; and what is written to one never costs less, or so many times
// as much.
func (u upstreamTier) rates(cacheWrite float64) rates {
	read := u.CacheRead
	if read == 0 {
		read = u.Input
	}
	return rates{
		Input: micros(u.Input), Output: micros(u.Output), CachedInput: micros(read), CacheWrite: micros(max(u.CacheWrite, u.Input, cacheWrite*u.Input)),
	}
}

func micros(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) }

func (t *transformer) applyRules(r *row, reasons bool) {
	for _, rule := range t.Rules {
		if matches(rule.Match, r.Name) && (rule.Reasons == nil || *rule.Reasons == reasons) {
			rule.apply(r)
		}
	}
}

func (f facts) apply(r *row) {
	set(&r.Context, f.Context)
	set(&r.MaxOutput, f.MaxOutput)
	set(&r.Efforts, f.Efforts)
	set(&r.Thinking, f.Thinking)
	set(&r.MaxThinking, f.MaxThinking)
	set(&r.FixedTemperature, f.FixedTemperature)
	set(&r.Images, f.Images)
	set(&r.WebSearch, f.WebSearch)
	set(&r.Verbosity, f.Verbosity)
	if f.NoPrice {
		r.Price = nil
	}
	if p := f.Price; p != nil {
		r.Price = &price{rates: upstreamTier{Input: p.Input, Output: p.Output, CacheRead: p.CachedInput, CacheWrite: p.CacheWrite}.rates(1)}
	}
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
