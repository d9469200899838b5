package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCurrent: what is in the repository is what generating makes of it.
func TestCurrent(t *testing.T) {
	t.Parallel()
	made, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{modelsJSON: made.modelsJSON, modelsGo: made.modelsGo} {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not current; run go generate ./catalog", name)
		}
	}
	if len(made.modelsJSON) > 300<<10 {
		t.Errorf("models.json has %d bytes", len(made.modelsJSON))
	}
}

// TestPinned: upstream.json is of the version that is pinned.
func TestPinned(t *testing.T) {
	t.Parallel()
	p, err := readPins(pinned)
	if err != nil {
		t.Fatal(err)
	}
	up, err := readUpstream("../data/upstream.json")
	if err != nil {
		t.Fatal(err)
	}
	if up.Package != p.Models.String() {
		t.Errorf("upstream.json is of %s, and %s is pinned; run go run ./catalog/gen -fetch", up.Package, p.Models)
	}
	again, err := encodeUpstream(up)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../data/upstream.json"); err != nil || !bytes.Equal(got, again) {
		t.Errorf("upstream.json was edited by hand (%v); corrections belong into ours.toml", err)
	}
	notice, err := os.ReadFile("../data/NOTICE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{p.Models.Package, p.Models.Version, p.Prices.Package, p.Prices.Version} {
		if !strings.Contains(string(notice), name) {
			t.Errorf("NOTICE.md does not mention %s", name)
		}
	}
}

// TestEveryRuleMatches: a rule or a skip that matches nothing is a mistake, or
// left over.
func TestEveryRuleMatches(t *testing.T) {
	t.Parallel()
	up, err := readUpstream("../data/upstream.json")
	if err != nil {
		t.Fatal(err)
	}
	own, err := readOurs("../data/ours.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range own.Providers {
		var names []string
		for _, m := range up.Providers[p.ID] {
			names = append(names, m.ID)
		}
		patterns := slices.Concat(p.Skip, p.Free)
		for _, m := range p.Models {
			names = append(names, m.Name)
		}
		for _, r := range p.Rules {
			patterns = append(patterns, r.Match...)
		}
		for _, pattern := range patterns {
			if !slices.ContainsFunc(names, func(name string) bool { return matches([]string{pattern}, name) }) {
				t.Errorf("%s: %q matches nothing", p.ID, pattern)
			}
		}
	}
}

func TestTransform(t *testing.T) {
	t.Parallel()
	word := func(s string) *string { return &s }
	yes, ten := true, 10
	up := upstream{Providers: map[string][]upstreamModel{"a": {
		{ID: "alias", Context: 1, MaxOutput: 1},
		{ID: "free", Context: 1, MaxOutput: 1},
		{ID: "guess", Context: 1000, MaxOutput: 900, Cost: upstreamPrice{Input: 1, Output: 100}},
		{ID: "known", Context: 100, MaxOutput: 50, Reasons: true, Images: true, Levels: map[string]*string{"none": nil, "high": word("high")}, Cost: upstreamPrice{
			Input: 1, Output: 2.5, CacheRead: 0.1, CacheWrite: 0.5, Tiers: []upstreamTier{{Above: 60, Input: 2, Output: 5}},
		}},
		{ID: "skipped", Context: 1, MaxOutput: 1},
		{ID: "zero", Context: 1, MaxOutput: 1},
	}}}
	own := ours{Providers: []ourProvider{{
		ID: "a", Skip: []string{"skip*"}, Free: []string{"free"}, DoubtfulRatio: 16, GuessedOutput: 300, Efforts: []string{"none", "low"},
		Rules: []rule{{Match: []string{"*"}, Reasons: &yes, facts: facts{FixedTemperature: &yes, Verbosity: &yes}}},
		Models: []ourModel{
			{Name: "like", Like: "known", Class: "fast", Aliases: []string{"Alias"}, facts: facts{Context: &ten}},
			{Name: "gone", Like: "a:known", Successor: "like"},
		},
	}}}
	got, err := transform(up, own)
	if err != nil {
		t.Fatal(err)
	}
	cost := &price{
		rates: rates{Input: 1e6, CachedInput: 1e5, CacheWrite: 1e6, Output: 2.5e6},
		Tiers: []tier{{Above: 60, rates: rates{Input: 2e6, CachedInput: 2e6, CacheWrite: 2e6, Output: 5e6}}},
	}
	thinks := row{Context: 100, MaxOutput: 50, Images: true, Efforts: []string{"low", "high"}, FixedTemperature: true, Verbosity: true}
	like, gone, known := thinks, thinks, thinks
	like.Name, like.Class, like.Context, like.Aliases, like.Price = "like", "fast", 10, []string{"Alias"}, cost
	gone.Name, gone.Successor = "gone", "like"
	known.Name, known.Price = "known", cost
	want := []provider{{ID: "a", Models: []row{
		like, gone,
		{Name: "free", Context: 1, MaxOutput: 1, Price: &price{}},
		{Name: "guess", Context: 1000, MaxOutput: 300},
		known,
		{Name: "zero", Context: 1, MaxOutput: 1},
	}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(price{}, tier{})); diff != "" {
		t.Error(diff)
	}
}

func TestTransformMistakes(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]ourModel{
		"context and max_output": {Name: "x"},
		"which it is like":       {Name: "x", Like: "y"},
	} {
		_, err := transform(upstream{}, ours{Providers: []ourProvider{{ID: "a", Models: []ourModel{m}}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	file := func(models string) []byte { return []byte(`{"providers":[{"id":"a","models":[` + models + `]}]}`) }
	var out strings.Builder
	err := diff(&out,
		file(`{"name":"gone","context":1},{"name":"same","context":2},{"name":"x","context":1000000,"price":{"input":1}}`),
		file(`{"name":"new","context":5,"max_output":6},{"name":"same","context":2},{"name":"x","context":2000000,"price":{"input":2,"output":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `- a/gone
+ a/new (context 5, output 6)
~ a/x: context 1000000 → 2000000; price.input 1 → 2; price.output nothing → 3
3 models: 1 added, 1 removed, 1 changed
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFromCache: a package in the cache is verified and read without npm.
func TestFromCache(t *testing.T) {
	t.Parallel()
	archive := pack(t, map[string]string{"package/dist/x.json": "{}"})
	p := pin{Package: "@some/thing", Version: "1.0.0", Integrity: integrity(archive)}
	cache := t.TempDir()
	if err := os.WriteFile(filepath.Join(cache, "some-thing-1.0.0.tgz"), archive, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := p.get(t.Context(), cache)
	if err != nil || string(got["dist/x.json"]) != "{}" {
		t.Errorf("got %v, %v", got, err)
	}
	if p.verify(append(archive, 0)) == nil {
		t.Error("a changed archive passes")
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	unpacked, sums := map[string][]byte{}, map[string]string{}
	for _, vendor := range vendorFiles {
		data := []byte(`{"wire":{"m":{"id":"m","contextWindow":10,"maxTokens":5,"input":["text","image"],"reasoning":true,
			"thinkingLevelMap":{"off":null,"low":"low"},"compat":{"supportsTemperature":false,"forceAdaptiveThinking":true},
			"cost":{"input":1,"output":2,"tiers":[{"inputTokensAbove":7,"input":3,"output":4}]}},
			"c":{"id":"c","type":"classifier","contextWindow":10,"maxTokens":5}},
			"x-images":{"i":{"id":"i","contextWindow":10,"maxTokens":5}}}`)
		unpacked["dist/providers/data/"+vendor+".json"] = data
		sum := sha256.Sum256(data)
		sums[vendor+".json"] = hex.EncodeToString(sum[:])
	}
	manifest, err := json.Marshal(map[string]any{"generatedAt": "now", "files": sums})
	if err != nil {
		t.Fatal(err)
	}
	unpacked["dist/providers/data/.manifest.json"] = manifest
	got, err := extract(pin{Package: "p", Version: "1"}, unpacked)
	if err != nil {
		t.Fatal(err)
	}
	low := "low"
	want := []upstreamModel{{
		ID: "m", Context: 10, MaxOutput: 5, Reasons: true, Images: true, Adaptive: true, NoTemperature: true,
		Levels: map[string]*string{"none": nil, "low": &low},
		Cost:   upstreamPrice{Input: 1, Output: 2, Tiers: []upstreamTier{{Above: 7, Input: 3, Output: 4}}},
	}}
	if diff := cmp.Diff(want, got.Providers["gemini"]); diff != "" {
		t.Error(diff)
	}
	unpacked["dist/providers/data/xai.json"] = []byte("{}")
	if _, err := extract(pin{}, unpacked); err == nil || !strings.Contains(err.Error(), "manifest") {
		t.Errorf("a changed file: %v", err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	m := upstreamModel{Context: 1_048_576, Cost: upstreamPrice{Input: 1, Output: 2}}
	if got := compare(m, otherPrice{Input: 1.005, Output: 2, CacheRead: 1, Context: 1_000_000}); got != "" {
		t.Errorf("got %q", got)
	}
	if got := compare(m, otherPrice{Input: 1, Output: 3, Context: 200_000}); !strings.Contains(got, "output 2, they say 3") || !strings.Contains(got, "context") {
		t.Errorf("got %q", got)
	}
}

func pack(t *testing.T, contents map[string]string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	out := tar.NewWriter(zipped)
	for name, content := range contents {
		if err := out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(out, content)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
