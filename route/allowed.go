package route

import (
	"slices"
	"strings"

	"parley"
)

// allowed reports whether the user lets the model be asked, by whatever name.
func (r *router) allowed(m parley.Model) bool {
	names, canonical := r.Allowed[m.Provider], r.canonical(m.Provider, m.Name)
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return strings.EqualFold(r.canonical(m.Provider, name), canonical)
	})
}

func (r *router) canonical(provider, name string) string {
	if row, ok := r.Catalogue.Lookup(provider, name); ok {
		return row.Name
	}
	return name
}

// instead refuses a model that was named and is not allowed, and replaces one
// that was only remembered.
func (r *router) instead(a Ask, c Choice) (Choice, error) {
	if c.Reason == parley.ReasonExplicit {
		err := parley.Errorf(parley.CodeModelNotAllowed, "%s is not one of the models allowed for %s", c.Model.Name, c.Model.Provider).
			WithHint("Allowed: %s. The list is in %s_ALLOWED_MODELS.",
				strings.Join(r.Allowed[c.Model.Provider], ", "), strings.ToUpper(c.Model.Provider))
		err.Provider, err.Model = c.Model.Provider, c.Model.Name
		return Choice{}, err
	}
	other, err := r.byTool(a.Tool)
	if err == nil {
		other.Notes = append(other.Notes, c.Model.String()+" is not one of the allowed models, so another was chosen")
	}
	return other, err
}

// allowedDefault is the first model of a provider that may be asked, of the
// class if there is one.
func (r *router) allowedDefault(provider string, class parley.Class) (parley.Model, bool) {
	var other parley.Model
	found := false
	for _, m := range r.Catalogue.Models(provider) {
		if m.Successor != "" || !r.allowed(m) {
			continue
		}
		if m.Class == class {
			return m, true
		}
		if !found {
			other, found = m, true
		}
	}
	if !found && len(r.Allowed[provider]) > 0 && len(r.Catalogue.Models(provider)) == 0 {
		return r.model(provider, r.Allowed[provider][0]), true
	}
	return other, found
}
