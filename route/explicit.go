package route

import (
	"slices"
	"strings"

	"parley"
)

// explicit is rules 1 to 5: the caller named a model.
func (r *router) explicit(name string) (Choice, error) {
	if c, ok := r.ownModel(name); ok {
		return c, nil
	}
	if strings.Contains(name, "/") {
		return r.qualified(name)
	}
	if r.isName(name) {
		return r.known(name)
	}
	base, option, ok := cutOption(name)
	if !ok || !r.canAnswer(base) && !(isOption(option) && r.isName(base)) {
		return r.unlisted(name)
	}
	if !isOption(option) {
		return Choice{}, r.noOption(name, base, option)
	}
	c, err := r.known(base)
	if err != nil {
		return Choice{}, err
	}
	return c.withOption(option), nil
}

// ownModel: what a provider was configured to serve is a name, slashes and
// colons included.
func (r *router) ownModel(name string) (Choice, bool) {
	for _, p := range r.Providers {
		if own := r.Models[p]; own != "" && strings.EqualFold(own, name) {
			return chosen(r.model(p, own), parley.ReasonExplicit), true
		}
	}
	return Choice{}, false
}

// qualified is rule 1: a name with a slash.
func (r *router) qualified(name string) (Choice, error) {
	prefix, rest, _ := strings.Cut(name, "/")
	prefix = strings.ToLower(prefix)
	switch {
	case rest == "":
		return Choice{}, r.notFound(name)
	case slices.Contains(r.Providers, prefix):
		return r.at(prefix, rest, name), nil
	case r.only != "":
		return r.atOnly(prefix, name)
	case slices.Contains(r.Providers, openRouter) && (!r.isProvider(prefix) || sharedWithOpenRouter(prefix)):
		return r.atOpenRouter(name), nil
	case sharedWithOpenRouter(prefix):
		return Choice{}, r.unavailable(name, prefix, openRouter)
	case r.isProvider(prefix):
		return Choice{}, r.unavailable(name, prefix)
	case len(r.Catalogue.Named(name)) > 0:
		return r.known(name)
	}
	return Choice{}, r.notFound(name)
}

// at sends rest to a provider as it stands. Only what is certainly an option of
// a catalogue model is taken off, and nothing at OpenRouter, whose own names
// have such suffixes.
func (r *router) at(provider, rest, whole string) Choice {
	if m, ok := r.Catalogue.Lookup(provider, whole); ok && strings.EqualFold(m.Name, whole) {
		return chosen(m, parley.ReasonExplicit) // openrouter/auto is the model's name
	}
	if base, option, ok := cutOption(rest); ok && isOption(option) && provider != openRouter {
		_, isName := r.Catalogue.Lookup(provider, rest)
		if _, isBase := r.Catalogue.Lookup(provider, base); !isName && (isBase || strings.EqualFold(r.Models[provider], base)) {
			return chosen(r.model(provider, base), parley.ReasonExplicit).withOption(option)
		}
	}
	return chosen(r.model(provider, rest), parley.ReasonExplicit)
}

// atOnly: the caller named the provider in its own field, so a slash belongs to
// the model's name, as gateways have it. At a vendor it is a contradiction.
func (r *router) atOnly(prefix, name string) (Choice, error) {
	if r.only == openRouter {
		return r.atOpenRouter(name), nil
	}
	if r.isProvider(prefix) && len(r.Catalogue.Models(r.only)) > 0 {
		err := parley.Errorf(parley.CodeInvalidArgument, "model %q names the provider %s, and provider says %s", name, prefix, r.only).
			WithHint("Leave provider out, or give the bare name of a model of %s.", r.only)
		err.Provider, err.Model = r.only, name
		return Choice{}, err
	}
	return chosen(r.model(r.only, name), parley.ReasonExplicit), nil
}

// atOpenRouter resolves the catalogue's short names and passes everything else on.
func (r *router) atOpenRouter(name string) Choice {
	if m, ok := r.Catalogue.Lookup(openRouter, name); ok {
		return r.resolved(m, name)
	}
	return chosen(parley.UnknownModel(openRouter, name), parley.ReasonExplicit)
}

// sharedWithOpenRouter: openai/gpt-5 is also what OpenRouter calls it. A name
// under any other provider's id is none of OpenRouter's, and a question meant
// for a local model must not end up there.
func sharedWithOpenRouter(provider string) bool {
	return provider == "openai" || provider == "anthropic" || provider == "deepseek"
}

// isName reports whether a bare name means anything by rules 2 and 4.
func (r *router) isName(name string) bool {
	_, vendor := r.Catalogue.Vendor(name)
	return vendor || len(r.Catalogue.Named(name)) > 0
}

// canAnswer reports whether a provider that may be used has the name.
func (r *router) canAnswer(name string) bool {
	if _, own := r.ownModel(name); own {
		return true
	}
	if !r.isName(name) {
		return false
	}
	_, err := r.known(name)
	return err == nil
}

// known is rules 2 and 4: a catalogue name, an alias or a vendor's word.
func (r *router) known(name string) (Choice, error) {
	if c, ok := r.ownModel(name); ok {
		return c, nil
	}
	rows := r.Catalogue.Named(name)
	if vendor, ok := r.Catalogue.Vendor(name); ok && len(rows) == 0 {
		m, _ := r.Catalogue.Default(vendor, parley.ClassBalanced)
		rows = []parley.Model{m}
	}
	var c Choice
	var later []parley.Candidate
	for _, p := range r.Providers {
		i := slices.IndexFunc(rows, func(m parley.Model) bool { return m.Provider == p })
		switch {
		case i < 0:
		case c.Model.Name == "":
			c = r.resolved(rows[i], name)
		default:
			later = append(later, parley.Candidate{Model: rows[i].String(), Rejected: c.Model.Provider + " comes first"})
		}
	}
	switch {
	case c.Model.Name != "":
	case r.only != "" && len(r.Catalogue.Models(r.only)) == 0:
		c = chosen(parley.UnknownModel(r.only, name), parley.ReasonExplicit) // a gateway's names are its own
	default:
		return Choice{}, r.unavailable(name, providersOf(rows)...)
	}
	c.Candidates = append(c.Candidates, later...)
	return c, nil
}

// resolved follows a retired name to its successor.
func (r *router) resolved(m parley.Model, name string) Choice {
	next, ok := r.Catalogue.Lookup(m.Provider, m.Successor)
	if m.Successor == "" || !ok {
		return chosen(m, parley.ReasonExplicit)
	}
	c := chosen(next, parley.ReasonExplicit)
	c.Candidates = append(c.Candidates, parley.Candidate{Model: m.String(), Rejected: "no longer served"})
	c.Notes = append(c.Notes, name+" is no longer served; its successor "+next.String()+" was asked")
	return c
}

// unlisted is rule 5: nobody knows the name.
func (r *router) unlisted(name string) (Choice, error) {
	var takers []string
	for _, p := range r.Providers {
		// A simulated model must not answer under another's name, and an agent
		// takes no names.
		if p != demo && p != cli {
			takers = append(takers, p)
		}
	}
	switch {
	case len(r.Providers) == 0:
		return Choice{}, r.nothing(name)
	case len(takers) != 1:
		return Choice{}, r.notFound(name)
	}
	if m, ok := r.Catalogue.Lookup(takers[0], name); ok {
		return r.resolved(m, name), nil
	}
	return chosen(parley.UnknownModel(takers[0], name), parley.ReasonExplicit), nil
}

func providersOf(rows []parley.Model) []string {
	var providers []string
	for _, m := range rows {
		if !slices.Contains(providers, m.Provider) {
			providers = append(providers, m.Provider)
		}
	}
	return providers
}
