package route_test

import (
	"strings"
	"testing"

	"parley"
	"parley/catalog"
	"parley/route"
)

func TestAllowedModels(t *testing.T) {
	t.Parallel()
	models, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	w := route.World{
		Catalogue: models, Providers: []string{"openai"},
		Allowed: map[string][]string{"openai": {"gpt5-mini", "o3"}},
	}
	for _, name := range []string{"gpt-5-mini", "gpt5-mini", "openai/gpt-5-mini", "openai/gpt5-mini", "o3", "gpt-5-mini:low"} {
		if _, err := route.Decide(route.Ask{Model: name}, w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"gpt-5", "openai/gpt-5", "openai/brand-new"} {
		_, err := route.Decide(route.Ask{Model: name}, w)
		if e := parley.AsError(err); err == nil || e.Code != parley.CodeModelNotAllowed || !strings.Contains(e.Hint, "gpt5-mini, o3") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, a := range []route.Ask{{Tool: "chat"}, {Tool: "debug"}, {Thread: parley.ModelRef{Provider: "openai", Name: "gpt-5"}}} {
		c, err := route.Decide(a, w)
		if err != nil || c.Chosen.Name != "gpt-5-mini" && c.Chosen.Name != "o3" {
			t.Errorf("%+v: %v %v", a, c.Chosen, err)
		}
	}
	w.Default = "gpt-5"
	if c, err := route.Decide(route.Ask{Tool: "chat"}, w); err != nil || c.Chosen.Name == "gpt-5" || len(c.Notes) == 0 {
		t.Errorf("a default that is not allowed: %v %v %v", c.Chosen, c.Notes, err)
	}
}
