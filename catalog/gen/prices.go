package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// priceNames are the other package's names of our providers.
var priceNames = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "gemini": "google", "xai": "x-ai", "deepseek": "deepseek",
	"moonshot": "moonshotai", "zai": "zai", "mistral": "mistral", "openrouter": "openrouter",
}

// askPrices answers for every [provider, model] on stdin with what the package
// in this folder knows, at the dearest hour of the day, or null.
const askPrices = `
const { calcPrice } = require("./index.cjs");
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const base = v => v === undefined ? 0 : typeof v === "number" ? v : v.base;
console.log(JSON.stringify(asked.models.map(([providerId, model]) => {
  let dearest = null;
  for (let hour = 0; hour < 24; hour++) {
    const timestamp = new Date(new Date(asked.day).setUTCHours(hour, 30));
    const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId, timestamp });
    if (!found || found.provider.id !== providerId) continue;
    const p = found.model_price;
    const price = { input: base(p.input_mtok), output: base(p.output_mtok), cache_read: base(p.cache_read_mtok),
      cache_write: base(p.cache_write_mtok), context: found.model.context_window || 0 };
    if (!dearest || price.input + price.output > dearest.input + dearest.output) dearest = price;
  }
  return dearest;
})));`

type otherPrice struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	Context    int     `json:"context"`
}

// crossCheck reports where another list says something else: a price by more
// than 1 %, a window by more than 10 %.
func crossCheck(ctx context.Context, up upstream, unpacked map[string][]byte, out io.Writer) error {
	var asked struct {
		Day    string      `json:"day"`
		Models [][2]string `json:"models"`
	}
	asked.Day = up.GeneratedAt
	var models []upstreamModel
	var names []string
	for _, provider := range slices.Sorted(maps.Keys(up.Providers)) {
		for _, m := range up.Providers[provider] {
			asked.Models = append(asked.Models, [2]string{priceNames[provider], m.ID})
			models, names = append(models, m), append(names, provider+"/"+m.ID)
		}
	}
	question, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	answer, err := node(ctx, unpacked["dist/index.cjs"], question)
	if err != nil {
		return err
	}
	var others []*otherPrice
	if err := json.Unmarshal(answer, &others); err != nil {
		return err
	}
	if len(others) != len(models) {
		return fmt.Errorf("asked for %d prices, got %d", len(models), len(others))
	}
	known, differing := 0, 0
	for i, other := range others {
		if other == nil {
			continue
		}
		known++
		if found := compare(models[i], *other); found != "" {
			differing++
			fmt.Fprintf(out, "? %s:%s\n", names[i], found)
		}
	}
	fmt.Fprintf(out, "prices: %d of %d models are in the other list, %d are different there\n", known, len(models), differing)
	return nil
}

// node runs the package's own lookup: it knows which model a name means, and
// from when on a price holds. The package was verified before.
func node(ctx context.Context, index, stdin []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "parley-prices-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "index.cjs"), index, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "ask.cjs"), []byte(askPrices), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, "ask.cjs"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), os.Stderr
	return cmd.Output()
}

func compare(m upstreamModel, other otherPrice) string {
	var found strings.Builder
	for _, field := range []struct {
		name        string
		ours, other float64
		tolerance   float64
	}{
		{"input", m.Cost.Input, other.Input, 0.01},
		{"output", m.Cost.Output, other.Output, 0.01},
		{"cache_read", m.Cost.CacheRead, other.CacheRead, 0.01},
		{"cache_write", m.Cost.CacheWrite, other.CacheWrite, 0.01},
		{"context", float64(m.Context), float64(other.Context), 0.1}, // 1,000,000 or 1,048,576
	} {
		if field.ours == 0 || field.other == 0 {
			continue // unknown to one of them
		}
		if math.Abs(field.ours-field.other) > field.tolerance*max(field.ours, field.other) {
			fmt.Fprintf(&found, " %s %s, they say %s;", field.name, plain(field.ours), plain(field.other))
		}
	}
	return found.String()
}

// plain writes a million as 1000000.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
