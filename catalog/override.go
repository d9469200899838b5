package catalog

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"parley"
	"parley/nearest"
)

// overrideFile is what [Catalog.With] reads.
type overrideFile struct {
	Models []override `toml:"model"`
}

// override is one [[model]]. What is absent stays as it is.
type override struct {
	Provider         string           `toml:"provider"`
	Name             string           `toml:"name"`
	Aliases          []string         `toml:"aliases"`
	Successor        *string          `toml:"successor"`
	Class            *parley.Class    `toml:"class"`
	Context          *int             `toml:"context"`
	MaxOutput        *int             `toml:"max_output"`
	Efforts          *[]parley.Effort `toml:"efforts"`
	Thinking         *parley.Thinking `toml:"thinking"`
	MaxThinking      *int             `toml:"max_thinking"`
	FixedTemperature *bool            `toml:"fixed_temperature"`
	Images           *bool            `toml:"images"`
	WebSearch        *bool            `toml:"web_search"`
	Verbosity        *bool            `toml:"verbosity"`
	Price            *overridePrice   `toml:"price"`
}

// overridePrice is in dollars per million tokens, as vendors print it.
type overridePrice struct {
	Input       *float64 `toml:"input"`
	CachedInput *float64 `toml:"cached_input"`
	CacheWrite  *float64 `toml:"cache_write"`
	Output      *float64 `toml:"output"`
}

// With returns the catalogue with a user's corrections and additions, written in
// TOML as the package comment shows. The error is a [*parley.Error] that says
// what to do.
func (c *Catalog) With(overrides []byte) (*Catalog, error) {
	file, err := parseOverrides(overrides)
	if err != nil {
		return nil, err
	}
	if err := file.checkTwice(); err != nil {
		return nil, err
	}
	models := slices.Clone(c.models)
	// The last one comes first of its class, so that the file's order holds.
	for _, o := range slices.Backward(file.Models) {
		if models, err = o.into(models); err != nil {
			return nil, err
		}
	}
	with, err := New(models)
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "the model overrides do not fit together: %w", err)
	}
	return with, nil
}

// checkTwice: which of two entries were meant to win is anybody's guess.
func (f overrideFile) checkTwice() error {
	seen := map[parley.ModelRef]bool{}
	for _, o := range f.Models {
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			ref := parley.ModelRef{Provider: o.Provider, Name: strings.ToLower(name)}
			if seen[ref] {
				return parley.Errorf(parley.CodeInvalidArgument, "the model overrides: %s is there twice", ref)
			}
			seen[ref] = true
		}
	}
	return nil
}

func parseOverrides(data []byte) (overrideFile, error) {
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return overrideFile{}, parley.Errorf(parley.CodeInvalidArgument, "the model overrides are not valid TOML: %w", err)
	}
	if err := checkKeys(tree, reflect.TypeFor[overrideFile](), ""); err != nil {
		return overrideFile{}, err
	}
	var file overrideFile
	in := toml.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := wrong.Position()
			return overrideFile{}, parley.Errorf(parley.CodeInvalidArgument, "the model overrides, line %d: %s: %w", line, strings.Join(wrong.Key(), "."), err)
		}
		return overrideFile{}, parley.Errorf(parley.CodeInvalidArgument, "the model overrides: %w", err)
	}
	return file, nil
}

// checkKeys refuses keys that the type has no field for, and says what was
// probably meant.
func checkKeys(value any, t reflect.Type, prefix string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return nil // the decoder says it better
		}
		for _, element := range value {
			if err := checkKeys(element, t.Elem(), prefix); err != nil {
				return err
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil
		}
		return checkTable(value, t, prefix)
	}
	return nil
}

func checkTable(table map[string]any, t reflect.Type, prefix string) error {
	known := map[string]reflect.Type{}
	for field := range t.Fields() {
		known[field.Tag.Get("toml")] = field.Type
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		inner, ok := known[key]
		if !ok {
			names := slices.Sorted(maps.Keys(known))
			err := parley.Errorf(parley.CodeInvalidArgument, "the model overrides: there is no key %q", prefix+key)
			if near := nearest.Names(key, names, 1); len(near) > 0 {
				return err.WithHint("Did you mean %s?", prefix+near[0])
			}
			return err.WithHint("The keys are %s.", strings.Join(names, ", "))
		}
		if err := checkKeys(table[key], inner, prefix+key+"."); err != nil {
			return err
		}
	}
	return nil
}

// into returns the models with this one changed or added.
func (o override) into(models []parley.Model) ([]parley.Model, error) {
	if o.Provider == "" || o.Name == "" {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "the model overrides: a [[model]] needs provider and name")
	}
	i := slices.IndexFunc(models, func(m parley.Model) bool {
		return m.Provider == o.Provider && strings.EqualFold(m.Name, o.Name)
	})
	m := parley.Model{ModelRef: parley.ModelRef{Provider: o.Provider, Name: o.Name}, MaxOutput: parley.UnknownMaxOutput}
	switch {
	case i >= 0:
		m = models[i]
		models = slices.Delete(models, i, i+1)
	case o.Context == nil:
		return nil, parley.Errorf(parley.CodeInvalidArgument, "the model overrides: %s is new, so it needs context", m).
			WithHint("If it was meant to correct a model that parley knows, give its name as `parley models` shows it.")
	default:
		m.MaxOutput = min(m.MaxOutput, *o.Context)
	}
	if err := o.apply(&m); err != nil {
		return nil, err
	}
	o.takeAliases(models)
	at := i
	if at < 0 || o.Class != nil {
		at = o.place(models)
	}
	return slices.Insert(models, at, m), nil
}

// place is where the provider's models begin if a class was given, so that the
// model becomes its default; where they end if not.
func (o override) place(models []parley.Model) int {
	ofProvider := func(m parley.Model) bool { return m.Provider == o.Provider }
	first := slices.IndexFunc(models, ofProvider)
	if first < 0 {
		return len(models)
	}
	if o.Class != nil {
		return first
	}
	for i, m := range slices.Backward(models) {
		if ofProvider(m) {
			return i + 1
		}
	}
	return len(models)
}

// takeAliases takes the aliases from the provider's other models. A name of
// theirs stays theirs, and New refuses it.
func (o override) takeAliases(models []parley.Model) {
	for i, m := range models {
		if m.Provider != o.Provider {
			continue
		}
		models[i].Aliases = slices.DeleteFunc(slices.Clone(m.Aliases), func(alias string) bool {
			return strings.EqualFold(alias, o.Name) ||
				slices.ContainsFunc(o.Aliases, func(taken string) bool { return strings.EqualFold(alias, taken) })
		})
	}
}

func (o override) apply(m *parley.Model) error {
	m.Aliases = slices.Clone(m.Aliases)
	for _, alias := range o.Aliases {
		if !slices.ContainsFunc(m.Aliases, func(has string) bool { return strings.EqualFold(has, alias) }) {
			m.Aliases = append(m.Aliases, alias)
		}
	}
	set(&m.Successor, o.Successor)
	set(&m.Class, o.Class)
	set(&m.Context, o.Context)
	set(&m.MaxOutput, o.MaxOutput)
	set(&m.Efforts, o.Efforts)
	set(&m.Thinking, o.Thinking)
	if m.Thinking != parley.ThinkingByBudget {
		m.MaxThinking = 0
	}
	set(&m.MaxThinking, o.MaxThinking)
	set(&m.FixedTemperature, o.FixedTemperature)
	set(&m.Images, o.Images)
	set(&m.WebSearch, o.WebSearch)
	set(&m.Verbosity, o.Verbosity)
	if o.Price == nil {
		return nil
	}
	price, err := o.Price.price()
	if err != nil {
		return parley.Errorf(parley.CodeInvalidArgument, "the model overrides: %s: %w", m, err)
	}
	m.Price = &price
	return nil
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// maxDollars keeps the sums of bills far away from overflow.
const maxDollars = 1e6

// price: a cache costs what fresh input does unless its price is given.
func (o overridePrice) price() (parley.Price, error) {
	if o.Input == nil || o.Output == nil {
		return parley.Price{}, errors.New("a price needs input and output")
	}
	var p parley.Price
	for _, rate := range []struct {
		to      *int64
		dollars *float64
	}{
		{&p.Input, o.Input},
		{&p.Output, o.Output},
		{&p.CachedInput, o.CachedInput},
		{&p.CacheWrite, o.CacheWrite},
	} {
		if rate.dollars == nil {
			rate.dollars = o.Input
		}
		if d := *rate.dollars; !(d >= 0 && d <= maxDollars) { // NaN is neither
			return parley.Price{}, errors.New("a price is in dollars per million tokens, between 0 and 1,000,000")
		}
		*rate.to = int64(math.Round(*rate.dollars * 1e6))
	}
	return p, nil
}
