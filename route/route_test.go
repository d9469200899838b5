package route_test

import (
	"slices"
	"strings"
	"testing"

	"parley"
	"parley/catalog"
	"parley/route"
)

var keys = map[string]string{
	"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
	"openrouter": "OPENROUTER_API_KEY", "moonshot": "MOONSHOT_API_KEY", "zai": "ZAI_API_KEY",
	"custom": "CUSTOM_API_URL", "azure": "AZURE_OPENAI_API_KEY",
}

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// world has the named providers, in that order.
func world(c *catalog.Catalog, providers ...string) route.World {
	return route.World{Catalogue: c, Keys: keys, Providers: providers}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	custom := func(own string, providers ...string) route.World {
		w := world(c, providers...)
		w.Models = map[string]string{"custom": own}
		return w
	}
	withDefault := func(name string, w route.World) route.World {
		w.Default = name
		return w
	}
	ask := func(model string) route.Ask { return route.Ask{Model: model, Tool: "chat"} }
	thread := parley.ModelRef{Provider: "openai", Name: "o3"}
	for _, tc := range []struct {
		name   string
		ask    route.Ask
		world  route.World
		want   string
		reason parley.Reason
		note   string
	}{
		{"1/Provider", ask("openai/gpt-5-mini"), world(c, "gemini", "openai"), "openai/gpt-5-mini", parley.ReasonExplicit, ""},
		{"1/ProviderInCapitals", ask("OpenAI/gpt-5-mini"), world(c, "openai"), "openai/gpt-5-mini", parley.ReasonExplicit, ""},
		{"1/RestAsItStands", ask("openai/ft:gpt-4o:me::42"), world(c, "openai", "gemini"), "openai/ft:gpt-4o:me::42", parley.ReasonExplicit, "assumed"},
		{"1/AliasAsItStands", ask("openai/gpt5-mini"), world(c, "openai"), "openai/gpt5-mini", parley.ReasonExplicit, ""},
		{"1/RestWithSlash", ask("openrouter/z-ai/glm-5.2"), world(c, "openrouter"), "openrouter/z-ai/glm-5.2", parley.ReasonExplicit, ""},
		{"1/NameWithProvidersName", ask("openrouter/auto"), world(c, "openrouter"), "openrouter/openrouter/auto", parley.ReasonExplicit, ""},
		{"1/EndpointOfMyOwn", ask("ollama/llama:8b"), world(c, "openai", "ollama"), "ollama/llama:8b", parley.ReasonExplicit, "assumed"},
		{"1/OtherSlashToOpenRouter", ask("meta/llama-9:free"), world(c, "openai", "openrouter"), "openrouter/meta/llama-9:free", parley.ReasonExplicit, "assumed"},
		{"1/SharedSlashToOpenRouter", ask("openai/gpt-99"), world(c, "openrouter"), "openrouter/openai/gpt-99", parley.ReasonExplicit, "assumed"},
		{"1/AliasWithSlash", ask("kimi/k2"), world(c, "openrouter"), "openrouter/moonshotai/kimi-k2", parley.ReasonExplicit, ""},
		{"2/Name", ask("gpt-5-mini"), world(c, "gemini", "openai"), "openai/gpt-5-mini", parley.ReasonExplicit, ""},
		{"2/Alias", ask("GPT 5 Mini"), world(c, "gemini", "openai"), "openai/gpt-5-mini", parley.ReasonExplicit, ""},
		{"2/Preference", ask("gpt-5-mini"), world(c, "dial", "openai"), "dial/gpt-5-mini", parley.ReasonExplicit, ""},
		{"2/Successor", ask("gemini-3-pro-preview"), world(c, "gemini"), "gemini/gemini-3.1-pro-preview", parley.ReasonExplicit, "no longer served"},
		{"2/OwnModel", ask("Qwen/Qwen3:8B"), custom("Qwen/Qwen3:8b", "openrouter", "custom"), "custom/Qwen/Qwen3:8b", parley.ReasonExplicit, "assumed"},
		{"2/OwnModelIsAWord", ask("mistral"), custom("mistral", "openai", "custom"), "custom/mistral", parley.ReasonExplicit, "assumed"},
		{"4/Vendor", ask("claude"), world(c, "openai", "anthropic"), "anthropic/claude-sonnet-5", parley.ReasonExplicit, ""},
		{"4/Pro", ask("pro"), world(c, "openai", "gemini"), "gemini/gemini-3.1-pro-preview", parley.ReasonExplicit, ""},
		{"4/Flash", ask("flash"), world(c, "openai", "gemini"), "gemini/gemini-3.8-flash", parley.ReasonExplicit, ""},
		{"5/OnlyProvider", ask("gpt-99"), world(c, "openai"), "openai/gpt-99", parley.ReasonExplicit, "32,768"},
		{"5/OnlyProviderButTheDemo", ask("gpt-99"), world(c, "demo", "openai"), "openai/gpt-99", parley.ReasonExplicit, "assumed"},
		{"5/LocalTag", ask("mistral:7b"), world(c, "custom"), "custom/mistral:7b", parley.ReasonExplicit, "assumed"},
		{"5/OptionOfNothingKnown", ask("llama:high"), world(c, "custom"), "custom/llama:high", parley.ReasonExplicit, "assumed"},
		{"6/Thread", route.Ask{Tool: "debug", Thread: thread}, world(c, "gemini", "openai"), "openai/o3", parley.ReasonThreadModel, ""},
		{"6/ThreadBeforeDefault", route.Ask{Thread: thread}, withDefault("pro", world(c, "gemini", "openai")), "openai/o3", parley.ReasonThreadModel, ""},
		{"6/ThreadGone", route.Ask{Tool: "chat", Thread: thread}, world(c, "gemini"), "gemini/gemini-3.8-flash", parley.ReasonOnlyOne, "openai/o3"},
		{"6/AutoOnThread", route.Ask{Model: "auto", Tool: "chat", Thread: thread}, world(c, "gemini"), "gemini/gemini-3.8-flash", parley.ReasonOnlyOne, ""},
		{"6/Env", ask(""), withDefault("o3", world(c, "gemini", "openai")), "openai/o3", parley.ReasonEnv, ""},
		{"6/EnvAuto", ask("auto"), withDefault("AUTO", world(c, "openai")), "openai/gpt-5-mini", parley.ReasonOnlyOne, ""},
		{"6/EnvUnavailable", ask("auto"), withDefault("claude", world(c, "openai")), "openai/gpt-5-mini", parley.ReasonOnlyOne, `DEFAULT_MODEL cannot be used: "claude" needs anthropic`},
		{"6/EnvOfAnotherProvider", route.Ask{Tool: "chat", Provider: "gemini"}, withDefault("gpt-99", world(c, "openai", "gemini")), "gemini/gemini-3.8-flash", parley.ReasonOnlyOne, "DEFAULT_MODEL"},
		{"6/Fast", ask("auto"), world(c, "openai", "gemini"), "openai/gpt-5-mini", parley.ReasonAutoToolDefault, ""},
		{"6/Deep", route.Ask{Tool: "codereview"}, world(c, "openai", "gemini"), "openai/gpt-5.6-sol", parley.ReasonAutoToolDefault, ""},
		{"6/Consensus", route.Ask{Tool: "consensus"}, world(c, "gemini", "openai"), "gemini/gemini-3.1-pro-preview", parley.ReasonAutoToolDefault, ""},
		{"6/Balanced", route.Ask{Tool: "askModel"}, world(c, "openai"), "openai/gpt-5.6-terra", parley.ReasonOnlyOne, ""},
		{"6/OwnDefault", ask(""), custom("llama3", "custom"), "custom/llama3", parley.ReasonOnlyOne, "assumed"},
		{"6/WithoutDefaultSkipped", ask(""), world(c, "custom", "openai"), "openai/gpt-5-mini", parley.ReasonOnlyOne, ""},
		{"6/DemoLast", ask(""), world(c, "demo", "openai"), "openai/gpt-5-mini", parley.ReasonOnlyOne, ""},
		{"6/DemoAlone", ask(""), world(c, "demo"), "demo/demo-fast", parley.ReasonOnlyOne, ""},
		{"DemoNamed", ask("demo-deep"), world(c, "openai", "demo"), "demo/demo-deep", parley.ReasonExplicit, ""},
		{"Provider/Auto", route.Ask{Tool: "chat", Provider: "Gemini"}, world(c, "openai", "gemini"), "gemini/gemini-3.8-flash", parley.ReasonOnlyOne, ""},
		{"Provider/UnknownName", route.Ask{Model: "exp-7", Provider: "gemini"}, world(c, "openai", "gemini"), "gemini/exp-7", parley.ReasonExplicit, "assumed"},
		{"Provider/KnownNameAtGateway", route.Ask{Model: "gpt-5-mini", Provider: "custom"}, world(c, "openai", "custom"), "custom/gpt-5-mini", parley.ReasonExplicit, "assumed"},
		{"Provider/SlashAtGateway", route.Ask{Model: "openai/gpt-5", Provider: "custom"}, world(c, "openai", "custom"), "custom/openai/gpt-5", parley.ReasonExplicit, "assumed"},
		{"Provider/SlashAtOpenRouter", route.Ask{Model: "openai/gpt-99", Provider: "openrouter"}, world(c, "openai", "openrouter"), "openrouter/openai/gpt-99", parley.ReasonExplicit, "assumed"},
		{"Provider/Twice", route.Ask{Model: "openai/o3", Provider: "openai"}, world(c, "openai", "openrouter"), "openai/o3", parley.ReasonExplicit, ""},
		{"Spaces", ask("  o3 "), world(c, "openai"), "openai/o3", parley.ReasonExplicit, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := route.Decide(tc.ask, tc.world)
			if err != nil {
				t.Fatalf("refused: %v (%s)", err, parley.AsError(err).Hint)
			}
			if got.Chosen.String() != tc.want || got.Model.ModelRef != got.Chosen || got.Reason != tc.reason {
				t.Errorf("got %s (%s), want %s (%s)", got.Chosen, got.Reason, tc.want, tc.reason)
			}
			if notes := strings.Join(got.Notes, "; "); tc.note == "" && notes != "" || !strings.Contains(notes, tc.note) {
				t.Errorf("notes are %q, want %q in them", notes, tc.note)
			}
			if got.Model.Context <= 0 || got.Model.MaxOutput <= 0 {
				t.Errorf("%s has no limits", got.Chosen)
			}
			if len(got.Candidates) == 0 || got.Candidates[0] != (parley.Candidate{Model: tc.want}) {
				t.Errorf("candidates are %v", got.Candidates)
			}
			for _, rejected := range got.Candidates[1:] {
				if rejected.Rejected == "" {
					t.Errorf("%s was rejected without a reason", rejected.Model)
				}
			}
		})
	}
}

func TestLimitsOfQualifiedNames(t *testing.T) {
	t.Parallel()
	w := world(embedded(t), "openai")
	for _, name := range []string{"openai/gpt-5-mini", "openai/GPT5-mini"} {
		got, err := route.Decide(route.Ask{Model: name}, w)
		if err != nil {
			t.Fatal(err)
		}
		if got.Model.Context != 400_000 || got.Model.Unknown || "openai/"+got.Model.Name != name {
			t.Errorf("%s became %+v", name, got.Model)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	for _, tc := range []struct {
		model  string
		want   string
		option string
		effort parley.Effort
		online bool
	}{
		{"gpt-5-mini:high", "openai/gpt-5-mini", "high", parley.EffortHigh, false},
		{"gpt-5-mini:None", "openai/gpt-5-mini", "none", parley.EffortNone, false},
		{"gpt:thinking", "openai/gpt-5.6-terra", "thinking", parley.EffortHigh, false},
		{"gpt5-mini:online", "openai/gpt-5-mini", "online", "", true},
		{"openai/gpt-5-mini:low", "openai/gpt-5-mini", "low", parley.EffortLow, false},
		{"openai/gpt-99:low", "openai/gpt-99:low", "", "", false},
		{"openrouter/z-ai/glm-5.2:online", "openrouter/z-ai/glm-5.2:online", "", "", false},
		{"gemini:flash", "gemini/gemini-3.8-flash", "", "", false},
		{"auto:max", "openai/gpt-5-mini", "max", parley.EffortMax, false},
	} {
		t.Run(tc.model, func(t *testing.T) {
			t.Parallel()
			got, err := route.Decide(route.Ask{Model: tc.model, Tool: "chat"}, world(c, "openai", "gemini", "openrouter"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Chosen.String() != tc.want || got.Option != tc.option || got.Effort != tc.effort || got.WebSearch != tc.online {
				t.Errorf("got %s, option %q, effort %q, online %t", got.Chosen, got.Option, got.Effort, got.WebSearch)
			}
			if got.Requested != tc.model {
				t.Errorf("requested is %q", got.Requested)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	ask := func(model string) route.Ask { return route.Ask{Model: model, Tool: "chat"} }
	for _, tc := range []struct {
		name  string
		ask   route.Ask
		world route.World
		code  parley.Code
		// says is in the message, hints are in the hint.
		says  string
		hints []string
	}{
		{"NoProvider", ask(""), world(c), parley.CodeProviderUnavailable, "no model can answer: no API key is set and no local model is configured", []string{"OPENAI_API_KEY", "parley doctor", "--demo on"}},
		{"NoProviderUnknownName", ask("gpt-99"), world(c), parley.CodeProviderUnavailable, "no model can answer", []string{"OPENAI_API_KEY"}},
		{"NoProviderKnownName", ask("gpt-5-mini"), world(c), parley.CodeProviderUnavailable, "openai", []string{"OPENAI_API_KEY"}},
		{"NoDefault", ask(""), world(c, "custom"), parley.CodeProviderUnavailable, "custom", []string{"CUSTOM_MODEL_NAME"}},
		{"1/KnownButUnconfigured", ask("gemini/gemini-2.5-pro"), world(c, "openai"), parley.CodeProviderUnavailable, "gemini", []string{"GEMINI_API_KEY", "openai/gpt-5-mini"}},
		{"1/SharedWithOpenRouter", ask("anthropic/claude-opus-5"), world(c, "openai"), parley.CodeProviderUnavailable, "anthropic", []string{"ANTHROPIC_API_KEY or OPENROUTER_API_KEY"}},
		{"1/LocalIsNotSentToOpenRouter", ask("custom/llama"), world(c, "openrouter"), parley.CodeProviderUnavailable, "custom", []string{"CUSTOM_API_URL"}},
		{"1/OtherSlashWithoutOpenRouter", ask("meta/llama-9"), world(c, "openai"), parley.CodeModelNotFound, "meta/llama-9", []string{"OPENROUTER_API_KEY"}},
		{"1/CatalogueSlashWithoutOpenRouter", ask("qwen/qwen3.7-max"), world(c, "openai"), parley.CodeProviderUnavailable, "openrouter", []string{"OPENROUTER_API_KEY"}},
		{"1/NothingAfterSlash", ask("openai/"), world(c, "openai"), parley.CodeModelNotFound, "openai/", []string{"openai/gpt-5-mini"}},
		{"1/Demo", ask("demo/demo-fast"), world(c, "openai"), parley.CodeProviderUnavailable, "demo", []string{"--demo on"}},
		{"2/Unconfigured", ask("opus"), world(c, "openai", "gemini"), parley.CodeProviderUnavailable, "anthropic", []string{"ANTHROPIC_API_KEY", "openai/gpt-5-mini", "gemini/gemini-3.8-flash"}},
		{"2/UnconfiguredWithGateway", ask("gpt-5-mini"), world(c, "custom"), parley.CodeProviderUnavailable, "openai", []string{"OPENAI_API_KEY", "custom/gpt-5-mini"}},
		{"3/UnknownOption", ask("gpt-5-mini:turbo"), world(c, "openai"), parley.CodeModelNotFound, "turbo", []string{"minimal", "thinking", "online"}},
		{"3/OptionOfUnconfigured", ask("opus:high"), world(c, "openai"), parley.CodeProviderUnavailable, "anthropic", []string{"ANTHROPIC_API_KEY"}},
		{"4/Unconfigured", ask("kimi"), world(c, "openai"), parley.CodeProviderUnavailable, "moonshot", []string{"MOONSHOT_API_KEY"}},
		{"4/Codex", ask("codex"), world(c, "openai"), parley.CodeProviderUnavailable, "cli", []string{"PATH"}},
		{"5/Several", ask("gpt-5-mimi"), world(c, "openai", "gemini"), parley.CodeModelNotFound, "gpt-5-mimi", []string{"gpt-5-mini", "listmodels"}},
		{"5/OnlyTheDemo", ask("gpt-99"), world(c, "demo"), parley.CodeModelNotFound, "gpt-99", []string{"demo/demo-fast"}},
		{"Provider/Unconfigured", route.Ask{Provider: "gemini"}, world(c, "openai"), parley.CodeProviderUnavailable, "gemini", []string{"GEMINI_API_KEY"}},
		{"Provider/Unknown", route.Ask{Provider: "gemeni"}, world(c, "openai"), parley.CodeInvalidArgument, "gemeni", []string{"openai"}},
		{"Provider/AnothersModel", route.Ask{Model: "opus", Provider: "openai"}, world(c, "openai", "anthropic"), parley.CodeModelNotFound, "anthropic", []string{"openai/gpt-5-mini"}},
		{"Provider/Contradiction", route.Ask{Model: "anthropic/opus", Provider: "openai"}, world(c, "openai", "anthropic"), parley.CodeInvalidArgument, "anthropic", []string{"provider"}},
		{"Control", ask("gpt\x1b[31m"), world(c, "openai"), parley.CodeInvalidArgument, "printed", []string{"name"}},
		{"Broken", ask("gpt\xff"), world(c, "openai"), parley.CodeInvalidArgument, "printed", []string{"name"}},
		{"Bidi", ask("gpt\u202e5"), world(c, "openai"), parley.CodeInvalidArgument, "printed", []string{"name"}},
		{"Long", ask(strings.Repeat("a", 257)), world(c, "openai"), parley.CodeInvalidArgument, "257", []string{"name"}},
		{"LongProvider", route.Ask{Provider: strings.Repeat("a", 257)}, world(c, "openai"), parley.CodeInvalidArgument, "257", []string{"name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := route.Decide(tc.ask, tc.world)
			if err == nil {
				t.Fatalf("got %s, want %s", got.Chosen, tc.code)
			}
			e := parley.AsError(err)
			if e.Code != tc.code || !strings.Contains(e.Message, tc.says) {
				t.Errorf("got %v, want %s and %q", e, tc.code, tc.says)
			}
			for _, hint := range tc.hints {
				if !strings.Contains(e.Hint, hint) {
					t.Errorf("hint is %q, want %q in it", e.Hint, hint)
				}
			}
			if tc.code != parley.CodeInvalidArgument && tc.ask.Model != "" && (e.Model == "" || !strings.HasPrefix(tc.ask.Model, e.Model)) {
				t.Errorf("the error is about model %q", e.Model)
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	got, err := route.Decide(route.Ask{Tool: "chat"}, world(embedded(t), "custom", "openai", "gemini", "demo"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got.Candidates {
		names = append(names, c.Model)
	}
	if want := []string{"openai/gpt-5-mini", "custom", "gemini/gemini-3.8-flash", "demo/demo-fast"}; !slices.Equal(names, want) {
		t.Errorf("candidates are %v, want %v", names, want)
	}
	if got.Reason != parley.ReasonAutoToolDefault || got.Requested != "auto" {
		t.Errorf("got %+v", got.Decision)
	}
}
