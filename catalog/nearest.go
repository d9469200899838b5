package catalog

import (
	"parley/nearest"
)

// Nearest returns up to n names and aliases that somebody who wrote name may
// have meant, nearest first. What is not reasonably near is left out.
func (c *Catalog) Nearest(name string, n int) []string {
	var names []string
	for _, m := range c.models {
		names = append(names, m.Name)
	}
	for _, m := range c.models {
		names = append(names, m.Aliases...)
	}
	return nearest.Names(name, names, n)
}
