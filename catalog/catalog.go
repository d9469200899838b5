// Package catalog knows which models exist: their names and aliases, what they
// take, how much they hold and what they cost.
//
// The order of the rows means something: a provider's first model of a class is
// its default for that class. Models without a class are never picked for
// anybody; they have to be named.
package catalog

import (
	"slices"
	"strings"

	"parley"
)

// Catalog is a set of models. It is immutable and safe for concurrent use; the
// slices inside the models it returns are shared and must not be changed.
type Catalog struct {
	models []parley.Model
	// byName holds indexes into models, by lower-case name or alias, in order.
	byName map[string][]int
	// byProvider holds indexes into models, in order.
	byProvider map[string][]int
}

// New makes a catalogue of models, after checking that it is sound: every name
// and alias means one model of its provider, and every successor exists.
func New(models []parley.Model) (*Catalog, error) {
	c := &Catalog{
		models:     make([]parley.Model, 0, len(models)),
		byName:     make(map[string][]int, 3*len(models)),
		byProvider: make(map[string][]int),
	}
	for _, m := range models {
		if err := check(m); err != nil {
			return nil, err
		}
		if err := c.add(clone(m)); err != nil {
			return nil, err
		}
	}
	if err := c.checkSuccessors(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Catalog) add(m parley.Model) error {
	i := len(c.models)
	for _, name := range append([]string{m.Name}, m.Aliases...) {
		if err := c.checkFree(m, name); err != nil {
			return err
		}
		key := strings.ToLower(name)
		c.byName[key] = append(c.byName[key], i)
	}
	c.models = append(c.models, m)
	c.byProvider[m.Provider] = append(c.byProvider[m.Provider], i)
	return nil
}

// Lookup finds the model that has this exact name or alias at a provider,
// whatever the case.
func (c *Catalog) Lookup(provider, name string) (parley.Model, bool) {
	for _, i := range c.byName[strings.ToLower(name)] {
		if c.models[i].Provider == provider {
			return c.models[i], true
		}
	}
	return parley.Model{}, false
}

// Named returns every provider's model that has this exact name or alias,
// whatever the case, in the catalogue's order.
func (c *Catalog) Named(name string) []parley.Model {
	return c.pick(c.byName[strings.ToLower(name)])
}

// Models returns the models of a provider in the catalogue's order; all models
// for the empty string.
func (c *Catalog) Models(provider string) []parley.Model {
	if provider == "" {
		return slices.Clone(c.models)
	}
	return c.pick(c.byProvider[provider])
}

// Default returns a provider's default for a class: its first model of that
// class or, if it has none, of the nearest class that it has.
func (c *Catalog) Default(provider string, class parley.Class) (parley.Model, bool) {
	for _, near := range nearestClasses(class) {
		for _, i := range c.byProvider[provider] {
			if m := c.models[i]; m.Class == near && m.Successor == "" {
				return m, true
			}
		}
	}
	return parley.Model{}, false
}

func (c *Catalog) pick(indexes []int) []parley.Model {
	if len(indexes) == 0 {
		return nil
	}
	picked := make([]parley.Model, len(indexes))
	for n, i := range indexes {
		picked[n] = c.models[i]
	}
	return picked
}

// nearestClasses begins with the class itself. A balanced model is rather
// replaced by a better one than by a worse one.
func nearestClasses(class parley.Class) [3]parley.Class {
	switch class {
	case parley.ClassFast:
		return [...]parley.Class{parley.ClassFast, parley.ClassBalanced, parley.ClassDeep}
	case parley.ClassDeep:
		return [...]parley.Class{parley.ClassDeep, parley.ClassBalanced, parley.ClassFast}
	default:
		return [...]parley.Class{parley.ClassBalanced, parley.ClassDeep, parley.ClassFast}
	}
}

// Unknown is a model that is in no catalogue. It is taken to hold 32,768 tokens
// and to answer with 4,096 until somebody knows better.
func Unknown(provider, name string) parley.Model {
	return parley.Model{
		ModelRef:  parley.ModelRef{Provider: provider, Name: name},
		Context:   parley.UnknownContext,
		MaxOutput: parley.UnknownMaxOutput,
		Unknown:   true,
	}
}

// Vendor tells which provider a vendor's bare word means. The vendor's default
// is [Catalog.Default] of that provider for [parley.ClassBalanced].
func (c *Catalog) Vendor(word string) (provider string, ok bool) {
	switch strings.ToLower(word) {
	case "claude":
		return "anthropic", true
	case "gemini":
		return "gemini", true
	case "gpt":
		return "openai", true
	case "grok":
		return "xai", true
	case "kimi":
		return "moonshot", true
	case "glm":
		return "zai", true
	case "deepseek":
		return "deepseek", true
	case "mistral":
		return "mistral", true
	}
	return "", false
}
