package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parley"
)

func check(m parley.Model) error {
	switch {
	case m.Provider == "" || m.Provider != strings.ToLower(m.Provider) || strings.ContainsAny(m.Provider, "/: "):
		return fmt.Errorf("model %s: %q cannot be a provider's id", m, m.Provider)
	case m.Name == "":
		return fmt.Errorf("a model of %s has no name", m.Provider)
	case !slices.Contains([]parley.Thinking{parley.ThinkingByEffort, parley.ThinkingByBudget, parley.ThinkingByLevel, parley.ThinkingAdaptive}, m.Thinking):
		return fmt.Errorf("model %s: unknown way of thinking %q", m, m.Thinking)
	case m.MaxThinking < 0 || m.MaxThinking > 0 && m.Thinking != parley.ThinkingByBudget:
		return fmt.Errorf("model %s: max_thinking is only for a budget, and not negative", m)
	case m.Context <= 0 || m.MaxOutput <= 0:
		return fmt.Errorf("model %s: context and output must be positive", m)
	case !slices.Contains([]parley.Class{"", parley.ClassFast, parley.ClassBalanced, parley.ClassDeep}, m.Class):
		return fmt.Errorf("model %s: unknown class %q", m, m.Class)
	case m.Price != nil && min(m.Price.Input, m.Price.CachedInput, m.Price.CacheWrite, m.Price.Output) < 0:
		return fmt.Errorf("model %s: a price is negative", m)
	}
	for _, name := range append([]string{m.Name}, m.Aliases...) {
		if name == "" || name != strings.TrimSpace(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("model %s: %q cannot be a name", m, name)
		}
	}
	return checkEfforts(m)
}

// checkEfforts: the nearest effort is found by walking up the levels.
func checkEfforts(m parley.Model) error {
	last := -1
	for _, effort := range m.Efforts {
		rank := slices.Index(parley.Efforts(), effort)
		if rank <= last {
			return fmt.Errorf("model %s: effort %q is unknown or out of order", m, effort)
		}
		last = rank
	}
	return nil
}

// checkNames: a name means one model of a provider, and no more than that.
func (c *Catalog) checkNames(m parley.Model) error {
	seen := make(map[string]bool, 1+len(m.Aliases))
	for _, name := range append([]string{m.Name}, m.Aliases...) {
		key := strings.ToLower(name)
		if seen[key] {
			return fmt.Errorf("model %s: %q is there twice", m, name)
		}
		seen[key] = true
		if err := c.checkFree(m, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) checkFree(m parley.Model, name string) error {
	if strings.EqualFold(name, "auto") {
		return fmt.Errorf("model %s: auto means that the router chooses", m)
	}
	if _, taken := c.Vendor(name); taken {
		return fmt.Errorf("model %s: %q means the vendor's default", m, name)
	}
	if other, taken := c.Lookup(m.Provider, name); taken {
		return fmt.Errorf("model %s: %q already means %s", m, name, other)
	}
	return nil
}

func (c *Catalog) checkSuccessors() error {
	for _, m := range c.models {
		if m.Successor == "" {
			continue
		}
		if next, ok := c.Lookup(m.Provider, m.Successor); !ok || next.Successor != "" || next.Name != m.Successor {
			return fmt.Errorf("model %s: its successor %q is not a model that %s serves", m, m.Successor, m.Provider)
		}
	}
	return nil
}

func clone(m parley.Model) parley.Model {
	m.Aliases = slices.Clone(m.Aliases)
	m.Efforts = slices.Clone(m.Efforts)
	m.Price = clonePrice(m.Price)
	return m
}

func clonePrice(p *parley.Price) *parley.Price {
	if p == nil {
		return nil
	}
	c := *p
	c.Long = clonePrice(p.Long)
	return &c
}
