package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// upstream is what others know about the models, cut down to what we use.
type upstream struct {
	Package     string                     `json:"package"`
	GeneratedAt string                     `json:"generated_at"`
	Providers   map[string][]upstreamModel `json:"providers"`
}

// upstreamModel keeps the numbers as they were written: dollars per million tokens.
type upstreamModel struct {
	ID        string `json:"id"`
	Context   int    `json:"context"`
	MaxOutput int    `json:"max_output"`
	Reasons   bool   `json:"reasons,omitempty"`
	Images    bool   `json:"images,omitempty"`
	// Levels maps parley's efforts to the vendor's words; null where the model
	// does not take the level, absent where upstream does not say.
	Levels map[string]*string `json:"levels,omitempty"`
	// Adaptive models decide themselves how long to think.
	Adaptive bool `json:"adaptive,omitempty"`
	// NoEffort models think, but take no word for how hard.
	NoEffort      bool          `json:"no_effort,omitempty"`
	NoTemperature bool          `json:"no_temperature,omitempty"`
	Cost          upstreamPrice `json:"cost"`
}

type upstreamPrice struct {
	Input      float64        `json:"input"`
	Output     float64        `json:"output"`
	CacheRead  float64        `json:"cache_read,omitempty"`
	CacheWrite float64        `json:"cache_write,omitempty"`
	Tiers      []upstreamTier `json:"tiers,omitempty"`
}

type upstreamTier struct {
	Above      int     `json:"above"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// vendorFiles are upstream's names of our providers.
var vendorFiles = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "gemini": "google", "xai": "xai", "deepseek": "deepseek",
	"moonshot": "moonshotai", "zai": "zai", "mistral": "mistral", "openrouter": "openrouter",
}

// rawModel is a row of the package's data files.
type rawModel struct {
	ID       string             `json:"id"`
	Type     string             `json:"type"`
	Reasons  bool               `json:"reasoning"`
	Input    []string           `json:"input"`
	Context  int                `json:"contextWindow"`
	Output   int                `json:"maxTokens"`
	Levels   map[string]*string `json:"thinkingLevelMap"`
	Adaptive struct {
		Force       bool  `json:"forceAdaptiveThinking"`
		Temperature *bool `json:"supportsTemperature"`
		Effort      *bool `json:"supportsReasoningEffort"`
	} `json:"compat"`
	Cost struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
		Tiers      []struct {
			Above      int     `json:"inputTokensAbove"`
			Input      float64 `json:"input"`
			Output     float64 `json:"output"`
			CacheRead  float64 `json:"cacheRead"`
			CacheWrite float64 `json:"cacheWrite"`
		} `json:"tiers"`
	} `json:"cost"`
}

// extract reads the data files of the package, after checking them against its
// manifest.
func extract(from pin, unpacked map[string][]byte) (upstream, error) {
	const folder = "dist/providers/data/"
	var manifest struct {
		Schema      int               `json:"schemaVersion"`
		GeneratedAt string            `json:"generatedAt"`
		Files       map[string]string `json:"files"`
	}
	if err := json.Unmarshal(unpacked[folder+".manifest.json"], &manifest); err != nil {
		return upstream{}, fmt.Errorf("its manifest: %w", err)
	}
	up := upstream{Package: from.String(), GeneratedAt: manifest.GeneratedAt, Providers: map[string][]upstreamModel{}}
	for provider, vendor := range vendorFiles {
		data := unpacked[folder+vendor+".json"]
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != manifest.Files[vendor+".json"] {
			return upstream{}, fmt.Errorf("%s.json is not what its manifest says", vendor)
		}
		var byWire map[string]map[string]rawModel
		if err := json.Unmarshal(data, &byWire); err != nil {
			return upstream{}, fmt.Errorf("%s.json: %w", vendor, err)
		}
		for _, wire := range slices.Sorted(maps.Keys(byWire)) {
			for _, raw := range byWire[wire] {
				if raw.isChat(wire) {
					up.Providers[provider] = append(up.Providers[provider], raw.model())
				}
			}
		}
		if len(up.Providers[provider]) == 0 {
			return upstream{}, fmt.Errorf("%s.json has no chat models", vendor)
		}
		slices.SortFunc(up.Providers[provider], func(a, b upstreamModel) int { return strings.Compare(a.ID, b.ID) })
	}
	return up, nil
}

// isChat: the files also have models that paint or classify.
func (raw rawModel) isChat(wire string) bool {
	chats := raw.Type == "" || raw.Type == "chat"
	return chats && raw.Context > 0 && raw.Output > 0 && !strings.Contains(wire, "image")
}

func (raw rawModel) model() upstreamModel {
	m := upstreamModel{
		ID: raw.ID, Context: raw.Context, MaxOutput: raw.Output, Reasons: raw.Reasons,
		Images:        slices.Contains(raw.Input, "image"),
		Adaptive:      raw.Adaptive.Force,
		NoTemperature: raw.Adaptive.Temperature != nil && !*raw.Adaptive.Temperature,
		NoEffort:      raw.Adaptive.Effort != nil && !*raw.Adaptive.Effort,
		Cost: upstreamPrice{
			Input: raw.Cost.Input, Output: raw.Cost.Output, CacheRead: raw.Cost.CacheRead, CacheWrite: raw.Cost.CacheWrite,
		},
	}
	for level, word := range raw.Levels {
		if m.Levels == nil {
			m.Levels = map[string]*string{}
		}
		if level == "off" {
			level = "none"
		}
		m.Levels[level] = word
	}
	for _, t := range raw.Cost.Tiers {
		m.Cost.Tiers = append(m.Cost.Tiers, upstreamTier(t))
	}
	return m
}

func readUpstream(name string) (upstream, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return upstream{}, fmt.Errorf("%w (run with -fetch to make it)", err)
	}
	var up upstream
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&up); err != nil {
		return upstream{}, fmt.Errorf("%s: %w", name, err)
	}
	return up, nil
}

// encodeUpstream writes a line a model, so that a refresh can be reviewed.
func encodeUpstream(up upstream) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n%q: %q,\n%q: %q,\n%q: {\n", "package", up.Package, "generated_at", up.GeneratedAt, "providers")
	ids := slices.Sorted(maps.Keys(up.Providers))
	for i, id := range ids {
		fmt.Fprintf(&out, "%q: [\n", id)
		if err := writeLines(&out, "", up.Providers[id]); err != nil {
			return nil, err
		}
		out.WriteString("]" + comma(i, len(ids)) + "\n")
	}
	out.WriteString("}\n}\n")
	return out.Bytes(), nil
}

func writeLines[T any](out *bytes.Buffer, indent string, rows []T) error {
	for i, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		out.WriteString(indent)
		out.Write(line)
		out.WriteString(comma(i, len(rows)) + "\n")
	}
	return nil
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}
