package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley"
	"parley/mcpserver"
)

type chatFlags struct {
	model, thread, effort string
	temperature           float64
	async                 bool
}

func chatCommand(g *global) *cobra.Command {
	f := &chatFlags{}
	cmd := &cobra.Command{
		Use: "chat PROMPT", Short: "Ask one question and watch the answer come", Args: cobra.ArbitraryArgs,
		Long: "chat asks one model one question. The answer goes to stdout, everything else to stderr.\n" +
			"Without PROMPT, or with -, the question is read from stdin.",
		Example: "  parley chat \"What does this error mean?\"\n" +
			"  git diff | parley chat --model gpt-5-mini -\n" +
			"  parley chat --continue conv_… \"And on Windows?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := promptFrom(args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			req := parley.Request{Tool: "chat", Prompt: prompt, Model: f.model, ThreadID: f.thread, Mode: parley.ModeWaited}
			req.Options.Effort = parley.Effort(f.effort)
			if cmd.Flags().Changed("temperature") {
				req.Options.Temperature = &f.temperature
			}
			if err := checkOptions(req.Options); err != nil {
				return err
			}
			a, err := openApp(cmd.Context(), g, false)
			if err != nil {
				return err
			}
			defer a.Close()
			req.Caller = a.caller()
			if a.cfg.StampDate {
				req.Stamp = time.Now().Format(time.DateOnly)
			}
			if f.async {
				return a.leave(cmd, g, req)
			}
			return a.talk(cmd, g, req)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.model, "model", "m", "", "model name, alias or provider/name (default auto)")
	flags.StringVarP(&f.thread, "continue", "c", "", "continue this thread")
	flags.StringVar(&f.effort, "effort", "", "none, minimal, low, medium, high, xhigh or max")
	flags.Float64Var(&f.temperature, "temperature", 0, "0 to 1")
	flags.BoolVar(&f.async, "async", false, "leave the question for a running parley, and print where to find the answer")
	return cmd
}

func checkOptions(o parley.Options) error {
	if o.Temperature != nil && (*o.Temperature < 0 || *o.Temperature > 1) {
		return wrongUsage("--temperature must be between 0 and 1")
	}
	if o.Effort == "" || slices.Contains(parley.Efforts(), o.Effort) {
		return nil
	}
	return wrongUsage("--effort cannot be %q; it is none, minimal, low, medium, high, xhigh or max", o.Effort)
}

func promptFrom(args []string, in io.Reader) (string, error) {
	prompt := strings.Join(args, " ")
	if prompt == "" && isTerminalReader(in) {
		return "", wrongUsage("what is the question? Try: parley chat \"…\"")
	}
	if prompt == "" || prompt == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("reading the question: %w", err)
		}
		prompt = strings.ToValidUTF8(string(data), "\uFFFD")
	}
	if strings.TrimSpace(prompt) == "" {
		return "", wrongUsage("the question is empty")
	}
	if strings.ContainsRune(prompt, 0) {
		return "", wrongUsage("the question holds a NUL character; is it a binary file?")
	}
	return prompt, nil
}

func isTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isTerminal(f)
}

// leave writes the run down for a process that stays.
func (a *app) leave(cmd *cobra.Command, g *global, req parley.Request) error {
	run, err := a.engine.Leave(cmd.Context(), req)
	if err != nil {
		return err
	}
	if g.json {
		return printJSON(cmd.OutOrStdout(), mcpserver.AnswerOf(run, "", time.Now()))
	}
	fmt.Fprintln(cmd.OutOrStdout(), run.ID)
	fmt.Fprintf(cmd.ErrOrStderr(), "The next parley process that stays (a server, or `parley runs wait %s`) works on it.\n", run.ID)
	return nil
}

// talk asks and shows the answer as it comes.
func (a *app) talk(cmd *cobra.Command, g *global, req parley.Request) error {
	ctx, out, errs := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	run, err := a.engine.Start(ctx, req)
	if err != nil {
		return err
	}
	id, began := run.ID, run.CreatedAt // run changes while the spinner still turns
	spin := startSpinner(errs, func() string {
		_, at, _ := a.engine.Tail(id, 0)
		return fmt.Sprintf("%s, %.0fs", at.Stage, time.Since(began).Seconds())
	})
	defer spin.Stop()
	tty, shown := isTerminal(out), false
	show := func(piece string) {
		if g.json {
			return
		}
		spin.Stop()
		shown = true
		if tty {
			piece = plain(piece)
		}
		_, _ = io.WriteString(out, piece) // a closed pipe does not stop the run from being stored
	}
	run, err = a.engine.Follow(ctx, id, show)
	spin.Stop()
	if err != nil && ctx.Err() != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if run, err = a.engine.Cancel(stopping, run.ID); err == nil && run.State == parley.StateCancelled {
			fmt.Fprintf(errs, "\nCancelled. What was there is kept: parley runs show %s\n", run.ID)
		}
		return &quietError{exitInterrupted}
	}
	if err != nil {
		return err
	}
	if g.json {
		if err := printJSON(out, mcpserver.AnswerOf(run, "", time.Now())); err != nil {
			return err
		}
	} else if shown {
		fmt.Fprintln(out)
	}
	if !run.State.Answered() {
		return run.Err
	}
	if !g.json {
		fmt.Fprintln(errs, "\n"+mcpserver.Headline(run))
		for _, note := range run.Result.Notes {
			fmt.Fprintln(errs, "Note: "+note)
		}
		fmt.Fprintf(errs, "Go on with: parley chat --continue %s \"…\"\n", run.ThreadID)
	}
	return nil
}
