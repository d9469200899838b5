package route_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley"
	"parley/catalog"
	"parley/route"
)

func drawWorld(t *rapid.T, c *catalog.Catalog) route.World {
	ids := []string{"openai", "gemini", "anthropic", "xai", "openrouter", "dial", "custom", "ollama", "demo", "cli"}
	w := route.World{
		Catalogue: c, Keys: keys,
		Providers: rapid.Permutation(ids).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "providers")],
		Default:   rapid.SampledFrom([]string{"", "auto", "o3", "claude", "gpt-99", "x/y", "\x00"}).Draw(t, "default"),
	}
	if rapid.Bool().Draw(t, "own") {
		w.Models = map[string]string{"custom": "llama:8b"}
	}
	return w
}

func drawName(c *catalog.Catalog) *rapid.Generator[string] {
	var names []string
	for _, m := range c.Models("") {
		names = append(append(names, m.Name, m.String()), m.Aliases...)
	}
	names = append(names, "claude", "gpt", "kimi", "llama:8b", "meta/llama", "ollama/x", "custom/a/b", "gpt-99")
	option := rapid.SampledFrom([]string{"", "", ":high", ":online", ":thinking", ":free", ":8b"})
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom(names).Draw(t, "known") + option.Draw(t, "option")
		}),
		rapid.StringN(1, 40, 300),
	)
}

func TestDecideProperties(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	names := drawName(c)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, c)
		a := route.Ask{
			Model:    rapid.OneOf(rapid.SampledFrom([]string{"", "auto"}), names).Draw(t, "model"),
			Provider: rapid.SampledFrom([]string{"", "", "", "openai", "openrouter", "custom", "nobody"}).Draw(t, "provider"),
			Tool:     rapid.SampledFrom([]string{"chat", "debug", "askModel"}).Draw(t, "tool"),
			Thread:   rapid.SampledFrom([]parley.ModelRef{{}, {Provider: "openai", Name: "o3"}, {Provider: "custom", Name: "x"}}).Draw(t, "thread"),
		}
		got, err := route.Decide(a, w)
		again, errAgain := route.Decide(a, w)
		if diff := cmp.Diff(got, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("two decisions differ: %v, %v\n%s", err, errAgain, diff)
		}
		if err != nil {
			e := parley.AsError(err)
			if e.Code == parley.CodeInternal || e.Message == "" || e.Hint == "" {
				t.Fatalf("refused without help: %+v", e)
			}
			return
		}
		if !slices.Contains(w.Providers, got.Chosen.Provider) {
			t.Fatalf("%s is not configured", got.Chosen)
		}
		if a.Provider != "" && got.Chosen.Provider != a.Provider {
			t.Fatalf("%s is not at %s", got.Chosen, a.Provider)
		}
		if got.Model.ModelRef != got.Chosen || got.Model.Name == "" || got.Model.Context <= 0 || got.Model.MaxOutput <= 0 {
			t.Fatalf("chose %+v", got.Model)
		}
		if got.Reason == parley.ReasonExplicit {
			checkHonoured(t, c, a.Model, got)
		} else if base, _, _ := strings.Cut(strings.TrimSpace(a.Model), ":"); base != "" && !strings.EqualFold(base, "auto") {
			t.Fatalf("%q was answered with %s because of %s", a.Model, got.Chosen, got.Reason)
		}
	})
}

// checkHonoured: what was chosen is what the name says, or what the catalogue
// says that the name means.
func checkHonoured(t *rapid.T, c *catalog.Catalog, name string, got route.Choice) {
	name = strings.TrimSpace(name)
	if got.Option != "" {
		name = strings.TrimSpace(name[:strings.LastIndexByte(name, ':')])
	}
	if strings.EqualFold(got.Chosen.Name, name) || strings.EqualFold(got.Chosen.String(), name) {
		return
	}
	if m, ok := c.Lookup(got.Chosen.Provider, name); ok && (m.Name == got.Chosen.Name || m.Successor == got.Chosen.Name) {
		return
	}
	if vendor, ok := c.Vendor(name); ok && vendor == got.Chosen.Provider {
		return
	}
	t.Fatalf("%q was replaced by %s", name, got.Chosen)
}

func FuzzDecide(f *testing.F) {
	c := embedded(f)
	f.Add("gpt-5-mini:high", "", "openai,gemini")
	f.Add("a/b:c", "openrouter", "openrouter")
	f.Fuzz(func(t *testing.T, model, provider, providers string) {
		w := world(c, strings.Split(providers, ",")...)
		got, err := route.Decide(route.Ask{Model: model, Provider: provider}, w)
		if err == nil && !slices.Contains(w.Providers, got.Chosen.Provider) {
			t.Errorf("%q chose %s of %v", model, got.Chosen, w.Providers)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	c := embedded(b)
	w := world(c, "gemini", "openai", "anthropic", "openrouter")
	for _, name := range []string{"auto", "gpt-5-mini", "openai/gpt-5-mini", "gpt5-mini:high", "claude"} {
		b.Run(strings.ReplaceAll(name, "/", "|"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := route.Decide(route.Ask{Model: name, Tool: "chat"}, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
