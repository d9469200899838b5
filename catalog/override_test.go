package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/catalog"
)

func with(t *testing.T, overrides string) *catalog.Catalog {
	t.Helper()
	c, err := embedded(t).With([]byte(overrides))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWithNothing(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(embedded(t).Models(""), with(t, "# nothing\n").Models("")); diff != "" {
		t.Error(diff)
	}
}

func TestWithCorrection(t *testing.T) {
	t.Parallel()
	before, _ := embedded(t).Lookup("openai", "gpt-5-mini")
	c := with(t, `
[[model]]
provider = "openai"
name = "GPT-5-mini"
context = 500000
max_output = 64000
aliases = ["mini", "luna", "gpt5-mini"]
efforts = ["low"]
images = false
price = {input = 0.5, output = 3}
`)
	want := before
	want.Context, want.MaxOutput, want.Images, want.Efforts = 500_000, 64_000, false, []parley.Effort{"low"}
	want.Aliases = append(slices.Clone(before.Aliases), "mini", "luna")
	want.Price = &parley.Price{Input: 500_000, CachedInput: 500_000, CacheWrite: 500_000, Output: 3_000_000}
	got, _ := c.Lookup("openai", "mini")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if m, _ := c.Lookup("openai", "gpt-5.6-luna"); slices.Contains(m.Aliases, "luna") {
		t.Errorf("%s still has %v", m, m.Aliases)
	}
	if m, _ := embedded(t).Lookup("openai", "luna"); m.Name != "gpt-5.6-luna" {
		t.Errorf("the catalogue it was made of changed: luna is %s", m)
	}
	if m, _ := c.Default("openai", parley.ClassFast); m.Name != "gpt-5-mini" {
		t.Errorf("the default became %s", m)
	}
}

func TestWithNewModels(t *testing.T) {
	t.Parallel()
	c := with(t, `
[[model]]
provider = "openai"
name = "gpt-9"
context = 2000000
class = "deep"
[[model]]
provider = "openai"
name = "gpt-9-alpha"
context = 2000000
class = "deep"
[[model]]
provider = "ollama"
name = "llama:8b"
context = 2048
price = {input = 0, output = 0}
`)
	if m, _ := c.Default("openai", parley.ClassDeep); m.Name != "gpt-9" || m.MaxOutput != parley.UnknownMaxOutput {
		t.Errorf("the deep default is %s with %d tokens of output", m, m.MaxOutput)
	}
	if m, _ := c.Default("openai", parley.ClassFast); m.Name != "gpt-5-mini" {
		t.Errorf("the fast default is %s", m)
	}
	if m, ok := c.Lookup("ollama", "llama:8b"); !ok || m.MaxOutput != 2048 || m.Price == nil || *m.Price != (parley.Price{}) || m.Unknown {
		t.Errorf("got %+v", m)
	}
}

func TestWithMovedDefault(t *testing.T) {
	t.Parallel()
	c := with(t, "[[model]]\nprovider = \"openai\"\nname = \"gpt-6-luna\"\nclass = \"fast\"\n")
	if m, _ := c.Default("openai", parley.ClassFast); m.Name != "gpt-6-luna" {
		t.Errorf("the default is %s", m)
	}
	if got, want := len(c.Models("")), len(embedded(t).Models("")); got != want {
		t.Errorf("%d models, want %d", got, want)
	}
}

func TestWithThinking(t *testing.T) {
	t.Parallel()
	c := with(t, "[[model]]\nprovider = \"gemini\"\nname = \"gemini-2.5-pro\"\nthinking = \"level\"\n")
	if m, _ := c.Lookup("gemini", "gemini-2.5-pro"); m.Thinking != parley.ThinkingByLevel || m.MaxThinking != 0 {
		t.Errorf("thinks by %q up to %d", m.Thinking, m.MaxThinking)
	}
}

func TestWithMistakes(t *testing.T) {
	t.Parallel()
	const mini = "[[model]]\nprovider = \"openai\"\nname = \"gpt-5-mini\"\n"
	for _, tc := range []struct{ name, overrides, want string }{
		{"NotTOML", "[[model", "not valid TOML"},
		{"UnknownKey", mini + "contxt = 5\n", "Did you mean model.context?"},
		{"UnknownPriceKey", mini + "price = {input = 1, ouput = 2}\n", "Did you mean model.price.output?"},
		{"UnknownTable", "[[models]]\nname = \"x\"\n", "Did you mean model?"},
		{"NothingLikeIt", mini + "zzzzzzzz = 1\n", "The keys are aliases"},
		{"Type", mini + "context = \"big\"\n", "line 4: model.context"},
		{"NotATable", "model = 5\n", "model"},
		{"NoName", "[[model]]\nprovider = \"openai\"\n", "needs provider and name"},
		{"NoContext", "[[model]]\nprovider = \"openai\"\nname = \"gpt-9\"\n", "needs context"},
		{"Negative", mini + "context = -1\n", "positive"},
		{"Class", mini + "class = \"best\"\n", "class"},
		{"Effort", mini + "efforts = [\"hard\"]\n", "effort"},
		{"Thinking", mini + "thinking = \"hard\"\n", "way of thinking"},
		{"MaxThinking", mini + "max_thinking = 5\n", "only for a budget"},
		{"PriceWithoutOutput", mini + "price = {input = 1}\n", "needs input and output"},
		{"NegativePrice", mini + "price = {input = -1, output = 1}\n", "between"},
		{"NoNumberPrice", mini + "price = {input = nan, output = 1}\n", "between"},
		{"HugePrice", mini + "price = {input = 1e300, output = 1}\n", "between"},
		{"AnothersName", mini + "aliases = [\"o3\"]\n", "already means"},
		{"VendorWord", mini + "aliases = [\"claude\"]\n", "vendor"},
		{"Successor", mini + "successor = \"gpt-99\"\n", "gpt-99"},
		{"SuccessorGone", mini + "successor = \"o3\"\n[[model]]\nprovider = \"openai\"\nname = \"o3\"\nsuccessor = \"o4-mini\"\n", "successor"},
		{"Twice", mini + mini, "twice"},
		{"AliasTwice", mini + "aliases = [\"m\"]\n[[model]]\nprovider = \"openai\"\nname = \"o3\"\naliases = [\"M\"]\n", "twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := embedded(t).With([]byte(tc.overrides))
			coded, ok := errors.AsType[*parley.Error](err)
			if !ok {
				t.Fatalf("got %v, want a *parley.Error", err)
			}
			if all := coded.Error() + " " + coded.Hint; coded.Code != parley.CodeInvalidArgument || !strings.Contains(all, tc.want) {
				t.Errorf("got %s %q, want %q", coded.Code, all, tc.want)
			}
		})
	}
}

func ExampleCatalog_With() {
	c, err := catalog.Embedded()
	if err != nil {
		panic(err)
	}
	c, err = c.With([]byte(`
[[model]]
provider = "ollama"
name = "qwen3:32b"
context = 40960
aliases = ["local"]
`))
	if err != nil {
		panic(err)
	}
	m, _ := c.Lookup("ollama", "local")
	fmt.Println(m, m.Context)
	// Output: ollama/qwen3:32b 40960
}

func FuzzWith(f *testing.F) {
	f.Add([]byte("[[model]]\nprovider = \"openai\"\nname = \"gpt-9\"\ncontext = 5\nprice = {input = 1, output = 2}\n"))
	f.Add([]byte("model = [[1], {}]"))
	f.Add([]byte("[model.price]\ninput = 1979-05-27"))
	small, err := catalog.New([]parley.Model{{ModelRef: parley.ModelRef{Provider: "openai", Name: "gpt-9"}, Context: 10, MaxOutput: 5}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, overrides []byte) {
		c, err := small.With(overrides)
		if err != nil {
			if _, ok := errors.AsType[*parley.Error](err); !ok {
				t.Fatalf("got %v, want a *parley.Error", err)
			}
			return
		}
		if _, err := catalog.New(c.Models("")); err != nil {
			t.Fatal(err)
		}
	})
}
