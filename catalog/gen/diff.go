package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// diff prints what changed between two versions of models.json: models that
// came and went, and the fields of the others.
func diff(out io.Writer, before, after []byte) error {
	old, err := flat(before)
	if err != nil {
		return err
	}
	now, err := flat(after)
	if err != nil {
		return err
	}
	all := maps.Clone(old)
	maps.Copy(all, now)
	added, removed, changed := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := old[name]
		is, has := now[name]
		switch {
		case !had:
			added++
			fmt.Fprintf(out, "+ %s (context %s, output %s)\n", name, is["context"], is["max_output"])
		case !has:
			removed++
			fmt.Fprintf(out, "- %s\n", name)
		default:
			if fields := changes(was, is); len(fields) > 0 {
				changed++
				fmt.Fprintf(out, "~ %s: %s\n", name, strings.Join(fields, "; "))
			}
		}
	}
	fmt.Fprintf(out, "%d models: %d added, %d removed, %d changed\n", len(now), added, removed, changed)
	return nil
}

func changes(was, is map[string]string) []string {
	all := maps.Clone(was)
	maps.Copy(all, is)
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if from, to := was[field], is[field]; from != to {
			fields = append(fields, fmt.Sprintf("%s %s → %s", field, orNothing(from), orNothing(to)))
		}
	}
	return fields
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// flat returns the fields of every model as JSON, by provider/name and field;
// the fields of objects by dotted names.
func flat(data []byte) (map[string]map[string]string, error) {
	models := map[string]map[string]string{}
	if len(data) == 0 {
		return models, nil
	}
	var file struct {
		Providers []struct {
			ID     string           `json:"id"`
			Models []map[string]any `json:"models"`
		} `json:"providers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("models.json: %w", err)
	}
	for _, p := range file.Providers {
		for _, m := range p.Models {
			fields := map[string]string{}
			if err := flatten(fields, "", m); err != nil {
				return nil, err
			}
			models[fmt.Sprintf("%s/%v", p.ID, m["name"])] = fields
		}
	}
	return models, nil
}

func flatten(into map[string]string, prefix string, fields map[string]any) error {
	for name, value := range fields {
		if inner, ok := value.(map[string]any); ok {
			if err := flatten(into, prefix+name+".", inner); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		into[prefix+name] = string(text)
	}
	return nil
}
