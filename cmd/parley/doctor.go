package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley"
	"parley/provider/demo"
)

// finding is one thing doctor looked at.
type finding struct {
	// Status is ok, note, warning or problem.
	Status string `json:"status"`
	About  string `json:"about"`
	Found  string `json:"found"`
	// Do says what to do about it.
	Do string `json:"do,omitempty"`
}

func doctorCommand(g *global) *cobra.Command {
	var offline bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check keys, endpoints and store, and say what to do", Args: cobra.NoArgs,
		Long: "doctor asks each configured provider for its list of models, with your key, and looks at the\n" +
			"store. It asks no model anything. Exit 1 if nothing can answer.",
		Example: "  parley doctor\n  parley doctor --offline --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, canAnswer := examine(cmd.Context(), g, offline)
			if g.json {
				if err := printJSON(cmd.OutOrStdout(), map[string]any{"can_answer": canAnswer, "findings": findings}); err != nil {
					return err
				}
			} else {
				printFindings(cmd.OutOrStdout(), findings, canAnswer)
			}
			if !canAnswer {
				return &quietError{exitFailed}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "do not contact the providers")
	return cmd
}

func printFindings(w io.Writer, findings []finding, canAnswer bool) {
	marks := map[string]string{"ok": "ok     ", "note": "note   ", "warning": "WARNING", "problem": "PROBLEM"}
	for _, f := range findings {
		fmt.Fprintf(w, "%s  %s: %s\n", marks[f.Status], f.About, f.Found)
		if f.Do != "" {
			fmt.Fprintf(w, "         → %s\n", strings.ReplaceAll(f.Do, "\n", "\n           "))
		}
	}
	if canAnswer {
		fmt.Fprintln(w, "\nReady: `parley chat \"Hello\"` asks a model, `parley serve` serves your MCP client.")
		return
	}
	fmt.Fprintln(w, "\nNothing can answer yet. Mend what is marked PROBLEM, then run `parley doctor` again.")
}

// firstSteps are for those who have set nothing yet.
const firstSteps = "Do one of these:\n" +
	"1. export OPENAI_API_KEY=…   (or ANTHROPIC_API_KEY, or GEMINI_API_KEY; OPENAI_BASE_URL and the like for a gateway)\n" +
	"2. export CUSTOM_API_URL=http://127.0.0.1:11434/v1 CUSTOM_MODEL_NAME=llama3.2   (Ollama, vLLM, LM Studio)\n" +
	"3. parley demo   (look around first, without any key)"

// examine looks at everything that can go wrong before a question is asked.
func examine(ctx context.Context, g *global, offline bool) (findings []finding, canAnswer bool) {
	cfg, err := load(g)
	if err != nil {
		return []finding{problemFinding("configuration", err)}, false
	}
	files := "built-in defaults and environment"
	for _, name := range []string{cfg.File, cfg.ProjectFile} {
		if name != "" {
			files = name + ", " + files
		}
	}
	findings = append(findings, finding{Status: "ok", About: "configuration", Found: files})

	a, err := openApp(ctx, g, false)
	if err != nil {
		return append(findings, problemFinding("store", err)), false
	}
	defer a.Close()
	findings = append(findings, a.examineStore(ctx))
	for _, p := range a.providers {
		f, ok := a.examineProvider(ctx, p, offline)
		findings = append(findings, f)
		canAnswer = canAnswer || ok
	}
	if len(a.providers) == 0 {
		findings = append(findings, finding{
			Status: "problem", About: "providers", Found: "no key is set and no local model is configured", Do: firstSteps,
		})
	}
	return append(findings, examineVariables()...), canAnswer
}

func problemFinding(about string, err error) finding {
	e := parley.AsError(err)
	if usage, ok := errors.AsType[*usageError](err); ok {
		return finding{Status: "problem", About: about, Found: usage.Error()}
	}
	return finding{Status: "problem", About: about, Found: e.Message, Do: e.Hint}
}

func (a *app) examineStore(ctx context.Context) finding {
	f := finding{Status: "ok", About: "store", Found: a.cfg.Home}
	threads, err := a.store.Threads(ctx, parley.ThreadQuery{Principal: principal(), Limit: 1000})
	if err != nil {
		return problemFinding("store", err)
	}
	if kind := networkFileSystem(a.cfg.Home); kind != "" {
		f.Status, f.Do = "problem", "Set PARLEY_HOME to a folder on a local disk."
		f.Found += " is on a network file system (" + kind + "), where SQLite's locks do not hold"
		return f
	}
	more := ""
	if len(threads) == 1000 {
		more = " or more"
	}
	f.Found += fmt.Sprintf(", %s%s, durability %s", counted(len(threads), "thread"), more, a.cfg.Durability)
	return f
}

// examineProvider asks an endpoint for its models, which costs nothing.
func (a *app) examineProvider(ctx context.Context, p parley.Provider, offline bool) (finding, bool) {
	f := finding{Status: "ok", About: "provider " + p.ID(), Found: "configured"}
	checker, ok := p.(interface {
		Models(ctx context.Context) ([]string, error)
	})
	if p.ID() == demo.ID {
		f.Status, f.Found = "note", "simulated models answer"
		return f, true
	}
	if offline || !ok {
		f.Found += " (not contacted)"
		return f, true
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	names, err := checker.Models(ctx)
	if err != nil {
		e := parley.AsError(err)
		// A gateway may well answer questions without listing its models.
		if e.Code != parley.CodeAuthenticationFailed && e.Code != parley.CodeProviderUnavailable && e.Code != parley.CodeTimeout {
			f.Status, f.Found, f.Do = "warning", "reachable, but it does not list its models: "+e.Message, "If questions are answered, nothing."
			return f, true
		}
		return problemFinding("provider "+p.ID(), err), false
	}
	f.Found = "reachable, " + counted(len(names), "model")
	if p.ID() == "custom" && a.cfg.Custom.Model == "" {
		f.Status, f.Found = "warning", f.Found+", but none of them is the default"
		f.Do = "Set CUSTOM_MODEL_NAME, or name a model in each question as custom/NAME."
	}
	return f, true
}

// examineVariables names variables of other programs that have no effect here.
func examineVariables() []finding {
	var list []finding
	for _, name := range []string{
		"EXAI_WS_EXPERT_MICROSTEP", "EXAI_UNIFIED_ROUTING", "EX_AUTOCONTINUE_WORKFLOWS", "THINKDEEP_FAST_EXPERT",
		"THINKDEEP_OVERRIDE_EXPLICIT", "HIDDEN_MODEL_ROUTER_ENABLED", "ROUTER_SENTINEL_MODELS", "THINK_ROUTING_ENABLED",
	} {
		if _, ok := os.LookupEnv(name); ok {
			list = append(list, finding{Status: "note", About: name, Found: "recognised, without effect in parley", Do: "Unset it, or leave it."})
		}
	}
	return list
}
