package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"parley"
	"parley/nearest"
)

// kind is a field's JSON type.
type kind string

const (
	textField    kind = "string"
	integerField kind = "integer"
	numberField  kind = "number"
	flagField    kind = "boolean"
)

// field is one argument of a tool: what is published about it and what is
// checked. The published schema leaves out what the server checks with a
// better error than a client could give.
type field struct {
	name string
	kind kind
	// about is published; short, or empty where the name says it.
	about    string
	required bool
	// hidden fields are accepted but not published.
	hidden bool
	// words are the allowed values of a text; published as an enum if they are
	// worth their tokens.
	words        []string
	publishWords bool
	// min and max bound a number, both included; equal for no bounds.
	min, max float64
	// later marks a field of the contract that this version does not serve yet.
	later bool
}

// args are a call's arguments after checking: only known fields, of the right type.
type args map[string]any

func (a args) text(name string) string { s, _ := a[name].(string); return s }
func (a args) flag(name string) bool   { b, _ := a[name].(bool); return b }
func (a args) integer(name string) int { n, _ := a[name].(float64); return int(n) }
func (a args) number(name string) *float64 {
	if n, ok := a[name].(float64); ok {
		return &n
	}
	return nil
}

// parse checks raw arguments against the fields. Its errors name the field,
// what is wrong with it and what would be right.
func parse(tool string, fields []field, raw json.RawMessage) (args, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, parley.Errorf(parley.CodeInvalidArgument, "the arguments of %s must be a JSON object", tool)
		}
	}
	known := make(map[string]field, len(fields))
	var names []string
	for _, f := range fields {
		known[f.name] = f
		if !f.later {
			names = append(names, f.name)
		}
	}
	checked := make(args, len(given))
	// In order, so that the same mistake gets the same answer each time.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		f, ok := known[name]
		if !ok {
			return nil, unknownField(tool, name, names)
		}
		if string(value) == "null" {
			continue // clients send null for what they leave out
		}
		if f.later {
			return nil, parley.Errorf(parley.CodeInvalidArgument, "%s is not supported by this version of parley yet", name).
				WithHint("Leave %s out.", name)
		}
		v, err := f.check(value)
		if err != nil {
			return nil, err
		}
		checked[name] = v
	}
	for _, f := range fields {
		if _, ok := checked[f.name]; f.required && !ok {
			return nil, parley.Errorf(parley.CodeInvalidArgument, "%s is required", f.name).
				WithHint("Call %s again with %s.", tool, f.name)
		}
	}
	return checked, nil
}

func unknownField(tool, name string, names []string) error {
	shown := strings.ToValidUTF8(name[:min(len(name), 64)], "?")
	err := parley.Errorf(parley.CodeInvalidArgument, "%s has no field %q", tool, shown)
	if near := nearest.Names(name, names, 1); len(near) > 0 {
		return err.WithHint("Did you mean %s?", near[0])
	}
	if len(names) == 0 {
		return err.WithHint("It takes no fields.")
	}
	return err.WithHint("Its fields are %s.", strings.Join(names, ", "))
}

func (f field) check(raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "%s is not a value that can be read, such as a number out of range", f.name)
	}
	switch f.kind {
	case textField:
		if s, ok := v.(string); ok {
			return s, f.checkText(s)
		}
	case flagField:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case integerField, numberField:
		if n, ok := v.(float64); ok && (f.kind == numberField || n == math.Trunc(n)) {
			return n, f.checkRange(n)
		}
	}
	article := "a"
	if f.kind == integerField {
		article = "an"
	}
	return nil, parley.Errorf(parley.CodeInvalidArgument, "%s must be %s %s, not %s", f.name, article, f.kind, jsonType(v))
}

func (f field) checkText(s string) error {
	if at := strings.IndexByte(s, 0); at >= 0 {
		return parley.Errorf(parley.CodeInvalidArgument, "%s holds a NUL character at byte %d", f.name, at).
			WithHint("Remove it; models and terminals cannot read it.")
	}
	if f.required && strings.TrimSpace(s) == "" {
		return parley.Errorf(parley.CodeInvalidArgument, "%s is empty", f.name)
	}
	if len(f.words) > 0 && !slices.Contains(f.words, s) {
		err := parley.Errorf(parley.CodeInvalidArgument, "%s cannot be %q", f.name, strings.ToValidUTF8(s[:min(len(s), 64)], "?"))
		return err.WithHint("It is one of %s.", strings.Join(f.words, ", "))
	}
	return nil
}

func (f field) checkRange(n float64) error {
	if f.min != f.max && (n < f.min || n > f.max) {
		return parley.Errorf(parley.CodeInvalidArgument, "%s must be between %s and %s, not %s",
			f.name, plainNumber(f.min), plainNumber(f.max), plainNumber(n))
	}
	return nil
}

func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func jsonType(v any) string {
	switch v := v.(type) {
	case string:
		return "a string"
	case float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "null"
}

// schema publishes the fields. Property order is the declared one, so that the
// snapshot reads like the table in the documents.
func schema(fields []field) json.RawMessage {
	var props, required []string
	for _, f := range fields {
		if f.hidden || f.later {
			continue
		}
		p := fmt.Sprintf(`%s:{"type":%s`, quote(f.name), quote(string(f.kind)))
		if f.publishWords {
			words := make([]string, len(f.words))
			for i, w := range f.words {
				words[i] = quote(w)
			}
			p += `,"enum":[` + strings.Join(words, ",") + `]`
		}
		if f.about != "" {
			p += `,"description":` + quote(f.about)
		}
		props = append(props, p+"}")
		if f.required {
			required = append(required, quote(f.name))
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(props, ",") + `}`
	if len(required) > 0 {
		s += `,"required":[` + strings.Join(required, ",") + `]`
	}
	return json.RawMessage(s + `,"additionalProperties":false}`)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always marshals
	}
	return string(b)
}
