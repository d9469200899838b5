package route

import (
	"maps"
	"slices"
	"strings"

	"parley"
)

// isProvider reports whether an id is one that parley knows, configured or not.
func (r *router) isProvider(id string) bool {
	_, keyed := r.Keys[id]
	return keyed || slices.Contains(r.all, id) || len(r.Catalogue.Models(id)) > 0
}

// unavailable: the name is known, but none of the providers that have it can be
// used.
func (r *router) unavailable(name string, providers ...string) error {
	if r.only != "" && !slices.Contains(providers, r.only) {
		err := parley.Errorf(parley.CodeModelNotFound, "%q is a model of %s, not of %s", name, list(providers, "and"), r.only).
			WithHint("Leave provider out, or name a model of %s.%s", r.only, r.available())
		err.Provider, err.Model = r.only, name
		return err
	}
	err := parley.Errorf(parley.CodeProviderUnavailable, "%q needs %s, which is not configured", name, list(providers, "or")).
		WithHint("%s%s%s", r.howToGet(providers), r.available(), r.passOn(name))
	err.Model = name
	if len(providers) > 0 {
		err.Provider = providers[0]
	}
	return err
}

// noProvider: the provider field names one that cannot be used.
func (r *router) noProvider(id string) error {
	if !r.isProvider(id) {
		err := parley.Errorf(parley.CodeInvalidArgument, "there is no provider %q", id).
			WithHint("%s", r.configured())
		err.Provider = id
		return err
	}
	err := parley.Errorf(parley.CodeProviderUnavailable, "the provider %s is not configured", id).
		WithHint("%s %s", r.howToGet([]string{id}), r.configured())
	err.Provider = id
	return err
}

// notFound: nobody knows the name, and nothing is sent on a guess.
func (r *router) notFound(name string) error {
	if len(r.Providers) == 0 {
		return r.nothing(name)
	}
	hint := "Check the name."
	if near := r.nearest(name); len(near) > 0 {
		hint = "Did you mean " + list(near, "or") + "?"
	}
	if _, known := r.Keys[openRouter]; known && strings.Contains(name, "/") && !slices.Contains(r.Providers, openRouter) {
		hint += " Names with a slash go to OpenRouter if " + r.key(openRouter) + " is set."
	}
	err := parley.Errorf(parley.CodeModelNotFound, "no model is called %q", name).
		WithHint("%s%s%s", hint, r.available(), r.passOn(name))
	err.Model, err.Provider = name, r.only
	return err
}

func (r *router) noOption(name, base, option string) error {
	err := parley.Errorf(parley.CodeModelNotFound, "%q is not a name, and %q is not an option of %s", name, option, base).
		WithHint("After the colon can be: %s.%s", optionNames(), r.passOn(name))
	err.Model, err.Provider = name, r.only
	return err
}

// nothing: there is nobody to ask.
func (r *router) nothing(name string) error {
	if len(r.Providers) > 0 {
		err := parley.Errorf(parley.CodeProviderUnavailable, "no default model is known for %s", list(r.Providers, "or")).
			WithHint("Name a model as %s/model, or set DEFAULT_MODEL (for CUSTOM_API_URL: CUSTOM_MODEL_NAME).", r.Providers[0])
		err.Provider, err.Model = r.Providers[0], name
		return err
	}
	var keys []string
	for _, id := range slices.Sorted(maps.Keys(r.Keys)) {
		if strings.HasSuffix(r.Keys[id], "_API_KEY") {
			keys = append(keys, r.Keys[id])
		}
	}
	err := parley.Errorf(parley.CodeProviderUnavailable, "no model can answer: no API key is set and no local model is configured").
		WithHint("Set %s, or CUSTOM_API_URL for a local model. `parley doctor` says what is missing; `--demo on` answers with simulated models.",
			list(keys, "or"))
	err.Model = name
	return err
}

// nearest keeps to names that can be asked.
func (r *router) nearest(name string) []string {
	var near []string
	for _, n := range r.Catalogue.Nearest(name, 20) {
		serves := func(m parley.Model) bool { return m.Successor == "" && slices.Contains(r.Providers, m.Provider) }
		if len(near) < 3 && slices.ContainsFunc(r.Catalogue.Named(n), serves) {
			near = append(near, n)
		}
	}
	return near
}

// available names a few models that would answer.
func (r *router) available() string {
	var names []string
	for _, p := range r.Providers {
		for _, class := range []parley.Class{parley.ClassFast, parley.ClassBalanced, parley.ClassDeep} {
			if m, ok := r.defaultOf(p, class); ok && len(names) < 8 && !slices.Contains(names, m.String()) {
				names = append(names, m.String())
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Available: " + strings.Join(names, ", ") + "; listmodels shows all."
}

// passOn: a gateway may serve names that the catalogue has elsewhere.
func (r *router) passOn(name string) string {
	for _, p := range r.Providers {
		if len(r.Catalogue.Models(p)) == 0 {
			return " To send the name to " + p + " as it stands, write " + p + "/" + name + "."
		}
	}
	return ""
}

func (r *router) configured() string {
	if len(r.all) == 0 {
		return "No provider is configured; `parley doctor` says what is missing."
	}
	return "Configured: " + strings.Join(r.all, ", ") + "."
}

func (r *router) howToGet(providers []string) string {
	if slices.Equal(providers, []string{demo}) {
		return "Start parley with `--demo on`."
	}
	if slices.Equal(providers, []string{cli}) {
		return "Install and log in to the command-line agent, and have it on PATH."
	}
	var keys, absent []string
	for _, p := range providers {
		if _, known := r.Keys[p]; known {
			keys = append(keys, r.key(p))
		} else {
			absent = append(absent, p)
		}
	}
	if len(keys) == 0 {
		return "This version of parley cannot ask " + list(absent, "or") + " yet."
	}
	return "Set " + list(keys, "or") + "."
}

// key is what to set for a provider.
func (r *router) key(provider string) string {
	if key := r.Keys[provider]; key != "" {
		return key
	}
	return strings.ToUpper(provider) + "_API_KEY"
}

func list(items []string, word string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " " + word + " " + items[last]
}
