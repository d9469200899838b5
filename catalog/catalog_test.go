package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley"
	"parley/catalog"
)

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLookup(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, tc := range []struct{ provider, name, want string }{
		{"openai", "gpt-5-mini", "gpt-5-mini"},
		{"openai", "GPT 5 Mini", "gpt-5-mini"},
		{"openai", "gpt-5", "gpt-5"},
		{"openai", "gpt-5-pro", "gpt-5-pro"},
		{"openai", "gpt-5.6", "gpt-5.6-sol"},
		{"openai", "o3-pro-2025-06-10", "o3-pro-2025-06-10"},
		{"dial", "o4-mini", "o4-mini"},
		{"openrouter", "kimi/k2", "moonshotai/kimi-k2"},
		{"gemini", "gpt-5-mini", ""},
		{"openai", "", ""},
		{"", "gpt-5-mini", ""},
	} {
		if got, ok := c.Lookup(tc.provider, tc.name); got.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("Lookup(%q, %q) = %q, %t, want %q", tc.provider, tc.name, got.Name, ok, tc.want)
		}
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	got, _ := embedded(t).Lookup("openai", "gpt-5-mini")
	want := parley.Model{
		ModelRef: parley.ModelRef{Provider: "openai", Name: "gpt-5-mini"},
		Aliases:  []string{"gpt5-mini", "gpt-5mini", "gpt 5 mini"},
		Class:    parley.ClassFast, Context: 400_000, MaxOutput: 128_000,
		Efforts:          []parley.Effort{parley.EffortMinimal, parley.EffortLow, parley.EffortMedium, parley.EffortHigh},
		FixedTemperature: true, Images: true, WebSearch: true, Verbosity: true,
		Price: &parley.Price{Input: 250_000, CachedInput: 25_000, CacheWrite: 250_000, Output: 2_000_000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gpt-5-mini (-want +got):\n%s", diff)
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, tc := range []struct {
		provider string
		class    parley.Class
		want     string
	}{
		{"openai", parley.ClassFast, "gpt-5-mini"},
		{"openai", parley.ClassBalanced, "gpt-5.6-terra"},
		{"openai", parley.ClassDeep, "gpt-5.6-sol"},
		{"gemini", parley.ClassFast, "gemini-3.8-flash"},
		{"gemini", parley.ClassBalanced, "gemini-3.1-pro-preview"},
		{"deepseek", parley.ClassBalanced, "deepseek-v4-pro"},
		{"xai", parley.ClassFast, "grok-4.3"},
		{"demo", parley.ClassFast, "demo-fast"},
		{"demo", parley.ClassBalanced, "demo-slow"},
		{"demo", parley.ClassDeep, "demo-deep"},
		{"cli", parley.ClassFast, ""},
		{"custom", parley.ClassFast, ""},
	} {
		if got, ok := c.Default(tc.provider, tc.class); got.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("the %s default of %s is %q, %t, want %q", tc.class, tc.provider, got.Name, ok, tc.want)
		}
	}
}

func TestNewestGeminis(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for word, class := range map[string]parley.Class{"flash": parley.ClassFast, "pro": parley.ClassDeep} {
		want, _ := c.Default("gemini", class)
		if got := c.Named(word); len(got) != 1 || got[0].Name != want.Name {
			t.Errorf("%s means %v, want %s", word, got, want)
		}
	}
}

func TestVendors(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, word := range []string{"claude", "Gemini", "gpt", "grok", "kimi", "glm", "deepseek", "mistral"} {
		provider, ok := c.Vendor(word)
		if _, has := c.Default(provider, parley.ClassBalanced); !ok || !has {
			t.Errorf("%s means %q, which has no default", word, provider)
		}
	}
	if _, ok := c.Vendor("auto"); ok {
		t.Error("auto is no vendor")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, tc := range []struct{ name, want string }{
		{"gpt-5-mimi", "gpt-5-mini"},
		{"GPT5mini", "gpt5-mini"},
		{"sonet", "sonnet"},
		{"gemini-2.5-flsh", "gemini-2.5-flash"},
		{"something-else-entirely", ""},
		{"", ""},
	} {
		got := c.Nearest(tc.name, 3)
		if len(got) > 3 || tc.want != "" && !slices.Contains(got, tc.want) || tc.want == "" && len(got) > 0 {
			t.Errorf("nearest to %q are %v, want %q", tc.name, got, tc.want)
		}
	}
	if got := c.Nearest("gpt-5-mini", 0); len(got) != 0 {
		t.Errorf("asked for none, got %v", got)
	}
}

func TestLookupProperties(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	models := c.Models("")
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(models).Draw(t, "model")
		name := rapid.SampledFrom(append([]string{m.Name}, m.Aliases...)).Draw(t, "name")
		got, ok := c.Lookup(m.Provider, strings.ToUpper(name))
		if !ok || got.ModelRef != m.ModelRef {
			t.Fatalf("%s at %s is %s", name, m.Provider, got)
		}
		if !slices.ContainsFunc(c.Named(name), func(n parley.Model) bool { return n.ModelRef == m.ModelRef }) {
			t.Fatalf("%s is not among those named %q", m, name)
		}
		if near := c.Nearest(name, 1); len(near) != 1 || !strings.EqualFold(near[0], name) {
			t.Fatalf("nearest to %q is %v", name, near)
		}
	})
}

func TestDemoIsFree(t *testing.T) {
	t.Parallel()
	for _, m := range embedded(t).Models("demo") {
		if m.Price == nil || *m.Price != (parley.Price{}) {
			t.Errorf("%s costs %+v", m, m.Price)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	model := func(provider, name string, change ...func(*parley.Model)) parley.Model {
		m := parley.Model{ModelRef: parley.ModelRef{Provider: provider, Name: name}, Context: 10, MaxOutput: 5}
		for _, f := range change {
			f(&m)
		}
		return m
	}
	alias := func(names ...string) func(*parley.Model) {
		return func(m *parley.Model) { m.Aliases = names }
	}
	for _, tc := range []struct {
		name   string
		models []parley.Model
		want   string
	}{
		{"OK", []parley.Model{model("a", "x"), model("b", "x", alias("y")), model("a", "y")}, ""},
		{"None", nil, ""},
		{"NameTwice", []parley.Model{model("a", "x"), model("a", "X")}, "already means"},
		{"AliasOfAnother", []parley.Model{model("a", "x", alias("z")), model("a", "y", alias("Z"))}, "already means"},
		{"AliasIsAName", []parley.Model{model("a", "x"), model("a", "y", alias("x"))}, "already means"},
		{"AliasTwice", []parley.Model{model("a", "x", alias("y", "y"))}, "twice"},
		{"VendorWord", []parley.Model{model("a", "claude")}, "vendor"},
		{"Auto", []parley.Model{model("a", "x", alias("Auto"))}, "router"},
		{"NoProvider", []parley.Model{model("", "x")}, "provider"},
		{"SlashInProvider", []parley.Model{model("a/b", "x")}, "provider"},
		{"NoName", []parley.Model{model("a", "")}, "no name"},
		{"Control", []parley.Model{model("a", "x\n")}, "cannot be a name"},
		{"NoContext", []parley.Model{model("a", "x", func(m *parley.Model) { m.Context = 0 })}, "positive"},
		{"Class", []parley.Model{model("a", "x", func(m *parley.Model) { m.Class = "best" })}, "class"},
		{"Effort", []parley.Model{model("a", "x", func(m *parley.Model) { m.Efforts = []parley.Effort{"high", "low"} })}, "out of order"},
		{"Price", []parley.Model{model("a", "x", func(m *parley.Model) { m.Price = &parley.Price{Input: -1} })}, "negative"},
		{"Successor", []parley.Model{model("a", "x", func(m *parley.Model) { m.Successor = "y" })}, "successor"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.New(tc.models)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestImmutable: a catalogue does not share what it was made of.
func TestImmutable(t *testing.T) {
	t.Parallel()
	in := []parley.Model{{
		ModelRef: parley.ModelRef{Provider: "a", Name: "x"}, Aliases: []string{"y"}, Context: 1, MaxOutput: 1,
		Price: &parley.Price{Input: 1},
	}}
	c, err := catalog.New(in)
	if err != nil {
		t.Fatal(err)
	}
	in[0].Aliases[0], in[0].Price.Input = "z", 2
	if got, _ := c.Lookup("a", "y"); got.Aliases[0] != "y" || got.Price.Input != 1 {
		t.Errorf("got %+v", got)
	}
}
