// Package route decides which model answers, and says why.
//
// [Decide] is a pure function of what was asked and what there is, so every
// decision can be replayed. An explicit model is honoured or refused, never
// replaced by another.
package route

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley"
)

// Catalogue is what the router needs to know about models.
type Catalogue interface {
	// Lookup finds an exact name or alias at a provider.
	Lookup(provider, name string) (parley.Model, bool)
	// Named finds an exact name or alias at every provider.
	Named(name string) []parley.Model
	// Models lists a provider's models.
	Models(provider string) []parley.Model
	// Default is a provider's model for a class.
	Default(provider string, class parley.Class) (parley.Model, bool)
	// Nearest returns names that may have been meant.
	Nearest(name string, n int) []string
	// Vendor tells which provider a word such as "claude" means.
	Vendor(word string) (provider string, ok bool)
}

// Ask is what the caller said about the model.
type Ask struct {
	// Model is a name in any form; empty and "auto" leave the choice to the router.
	Model string
	// Provider restricts the choice to one provider; empty for any.
	Provider string
	// Tool decides which class of model "auto" means.
	Tool string
	// Thread is the model of the last answered turn; zero if there is none.
	Thread parley.ModelRef
}

// World is what there is to choose from.
type World struct {
	Catalogue Catalogue
	// Providers are the ids of the configured providers, in order of preference.
	Providers []string
	// Default is DEFAULT_MODEL; empty and "auto" leave the choice to the router.
	Default string
	// Keys says what to set to get a provider, such as "OPENAI_API_KEY". A
	// provider with an entry is known even if it has no models here.
	Keys map[string]string
	// Models names a provider's own default model, such as CUSTOM_MODEL_NAME.
	// It comes before the catalogue's.
	Models map[string]string
	// Allowed restricts providers to these names and aliases; a provider without
	// an entry is not restricted.
	Allowed map[string][]string
}

// Choice is a decision with what follows from it.
type Choice struct {
	parley.Decision

	// Model is what is known about the chosen model. Its name is what to send.
	Model parley.Model
	// Effort comes from name:option; empty if there was none.
	Effort parley.Effort
	// WebSearch was asked for with name:online.
	WebSearch bool
}

// Providers that are not like the others.
const (
	openRouter = "openrouter"
	demo       = "demo"
	cli        = "cli"
)

const auto = "auto"

// maxName is longer than any model's name.
const maxName = 256

// Decide picks the model for an ask. The error is an [*parley.Error] that says
// what to do.
func Decide(a Ask, w World) (Choice, error) {
	a.Model, a.Provider = strings.TrimSpace(a.Model), strings.ToLower(strings.TrimSpace(a.Provider))
	if err := checkName("model", a.Model); err != nil {
		return Choice{}, err
	}
	if err := checkName("provider", a.Provider); err != nil {
		return Choice{}, err
	}
	r := router{World: w, all: w.Providers}
	if a.Provider != "" {
		if err := r.restrict(a.Provider); err != nil {
			return Choice{}, err
		}
	}
	c, err := r.decide(a)
	if err == nil && !r.allowed(c.Model) {
		c, err = r.instead(a, c)
	}
	if err != nil {
		return Choice{}, err
	}
	c.Requested = a.Model
	if c.Requested == "" {
		c.Requested = auto
	}
	c.Chosen = c.Model.ModelRef
	return c, nil
}

func checkName(field, name string) error {
	switch {
	case len(name) > maxName:
		return parley.Errorf(parley.CodeInvalidArgument, "%s is %d bytes long; no name is longer than %d", field, len(name), maxName).
			WithHint("Give the bare name of a model, such as gpt-5-mini, or leave it out.")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return parley.Errorf(parley.CodeInvalidArgument, "%s %q has characters in it that cannot be printed", field, name).
			WithHint("Give the bare name of a model, such as gpt-5-mini, or leave it out.")
	}
	return nil
}

// router is the world as one ask sees it: Providers are those it may use.
type router struct {
	World

	// all are the configured providers, whatever the ask is restricted to.
	all []string
	// only is the provider that the ask is restricted to; empty for any.
	only string
}

func (r *router) restrict(provider string) error {
	if !slices.Contains(r.Providers, provider) {
		return r.noProvider(provider)
	}
	r.Providers, r.only = []string{provider}, provider
	return nil
}

func (r *router) decide(a Ask) (Choice, error) {
	name, option := a.Model, ""
	if base, opt, ok := cutOption(name); ok && strings.EqualFold(base, auto) && isOption(opt) {
		name, option = base, opt
	}
	if name != "" && !strings.EqualFold(name, auto) {
		return r.explicit(name)
	}
	c, err := r.implicit(a, name == "")
	if err != nil {
		return Choice{}, err
	}
	return c.withOption(option), nil
}

// implicit is rule 6: the thread's model, else DEFAULT_MODEL, else the router.
func (r *router) implicit(a Ask, mayContinue bool) (Choice, error) {
	var notes []string
	if mayContinue && a.Thread != (parley.ModelRef{}) {
		if slices.Contains(r.Providers, a.Thread.Provider) {
			c := r.resolved(r.model(a.Thread.Provider, a.Thread.Name), a.Thread.Name)
			c.Reason = parley.ReasonThreadModel
			return c, nil
		}
		notes = append(notes, "the thread's model "+a.Thread.String()+" cannot be asked here, so another was chosen")
	}
	if r.Default != "" && !strings.EqualFold(r.Default, auto) {
		c, err := r.fromEnv()
		if err == nil {
			c.Notes = append(notes, c.Notes...)
			return c, nil
		}
		notes = append(notes, "DEFAULT_MODEL cannot be used: "+parley.AsError(err).Message+"; another model was chosen")
	}
	c, err := r.byTool(a.Tool)
	c.Notes = append(notes, c.Notes...)
	return c, err
}

// fromEnv reads DEFAULT_MODEL as if no provider had been named: it was written
// for all providers, and is not to be tried at another one.
func (r *router) fromEnv() (Choice, error) {
	if err := checkName("DEFAULT_MODEL", r.Default); err != nil {
		return Choice{}, err
	}
	free := router{World: r.World, all: r.all}
	free.Providers = r.all
	c, err := free.explicit(strings.TrimSpace(r.Default))
	switch {
	case err != nil:
		return Choice{}, err
	case !slices.Contains(r.Providers, c.Model.Provider):
		return Choice{}, parley.Errorf(parley.CodeInvalidArgument, "%q is a model of %s, and %s was asked for", r.Default, c.Model.Provider, r.only)
	}
	c.Reason = parley.ReasonEnv
	return c, nil
}

// model is a name as it stands, with what is known about it.
func (r *router) model(provider, name string) parley.Model {
	m, ok := r.Catalogue.Lookup(provider, name)
	if !ok {
		return parley.UnknownModel(provider, name)
	}
	m.Name = name
	return m
}

func chosen(m parley.Model, reason parley.Reason) Choice {
	c := Choice{Model: m}
	c.Reason = reason
	c.Candidates = []parley.Candidate{{Model: m.String()}}
	if m.Unknown {
		c.Notes = []string{m.String() + " is not in the catalogue: 32,768 tokens of context and 4,096 of output are assumed"}
	}
	return c
}
