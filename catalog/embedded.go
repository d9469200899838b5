package catalog

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"parley"
)

//go:embed data/models.json
var data []byte

// Embedded returns the catalogue that is built into the program.
func Embedded() (*Catalog, error) {
	models, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("reading the embedded catalogue: %w", err)
	}
	return New(models)
}

// file is the layout of models.json.
type file struct {
	Providers []struct {
		ID string `json:"id"`
		// RowsOf makes this provider serve another's models, over Chat
		// Completions and at prices of its own.
		RowsOf string `json:"rows_of"`
		Models []row  `json:"models"`
	} `json:"providers"`
}

type row struct {
	Name             string          `json:"name"`
	Aliases          []string        `json:"aliases"`
	Successor        string          `json:"successor"`
	Class            parley.Class    `json:"class"`
	Context          int             `json:"context"`
	MaxOutput        int             `json:"max_output"`
	Efforts          []parley.Effort `json:"efforts"`
	FixedTemperature bool            `json:"fixed_temperature"`
	Images           bool            `json:"images"`
	WebSearch        bool            `json:"web_search"`
	Verbosity        bool            `json:"verbosity"`
	// Price is in micro-dollars per million tokens; absent where unknown.
	Price *price `json:"price"`
}

type price struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input"`
	CacheWrite  int64 `json:"cache_write"`
	Output      int64 `json:"output"`
}

func decode(raw []byte) ([]parley.Model, error) {
	var f file
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&f); err != nil {
		return nil, err
	}
	var models []parley.Model
	served := make(map[string][]row)
	for _, p := range f.Providers {
		served[p.ID] = p.Models
		for _, r := range p.Models {
			models = append(models, r.model(p.ID))
		}
		if p.RowsOf == "" {
			continue
		}
		if len(served[p.RowsOf]) == 0 {
			return nil, fmt.Errorf("%s has the rows of %q, which has none before it", p.ID, p.RowsOf)
		}
		for _, r := range served[p.RowsOf] {
			r.Price, r.WebSearch = nil, false
			models = append(models, r.model(p.ID))
		}
	}
	return models, nil
}

func (r row) model(provider string) parley.Model {
	return parley.Model{
		ModelRef:         parley.ModelRef{Provider: provider, Name: r.Name},
		Aliases:          r.Aliases,
		Successor:        r.Successor,
		Class:            r.Class,
		Context:          r.Context,
		MaxOutput:        r.MaxOutput,
		Efforts:          r.Efforts,
		FixedTemperature: r.FixedTemperature,
		Images:           r.Images,
		WebSearch:        r.WebSearch,
		Verbosity:        r.Verbosity,
		Price:            (*parley.Price)(r.Price),
	}
}
