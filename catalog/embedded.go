package catalog

import "parley"

//go:generate go run ./gen

// served is what a provider of the built-in catalogue serves.
type served struct {
	provider string
	// rowsOf makes it serve the models of a provider before it, over Chat
	// Completions and at prices of its own.
	rowsOf string
	models []parley.Model
}

// Embedded returns the catalogue that is built into the program. It takes no
// time worth saving: nothing is parsed, and what is built in was checked when
// it was generated.
func Embedded() (*Catalog, error) {
	of := make(map[string][]parley.Model, len(built))
	n := 0
	for _, s := range built {
		of[s.provider] = s.models
		n += len(s.models) + len(of[s.rowsOf])
	}
	c := sized(n)
	for _, s := range built {
		for _, m := range s.models {
			c.index(m)
		}
		for _, m := range of[s.rowsOf] {
			m.Provider, m.Price, m.WebSearch = s.provider, nil, false
			c.index(m)
		}
	}
	return c, nil
}
