package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"parley"
	"parley/mcpserver"
)

func runsCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runs", Short: "Background work", Args: cobra.NoArgs,
		Example: "  parley runs list --live\n  parley runs wait run_…",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(runsList(g), runsShow(g), runsWait(g), runsCancel(g))
	return cmd
}

func runsList(g *global) *cobra.Command {
	var limit int
	var live bool
	list := &cobra.Command{
		Use: "list", Short: "The most recent runs", Args: cobra.NoArgs,
		Example: "  parley runs list\n  parley runs list --live",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, _ []string) error {
			runs, err := a.engine.Runs(cmd.Context(), parley.RunQuery{Principal: principal(), Live: live, Limit: limit})
			if err != nil {
				return err
			}
			return showRuns(cmd, g, runs)
		}),
	}
	list.Flags().IntVar(&limit, "limit", 10, "how many at most")
	list.Flags().BoolVar(&live, "live", false, "only runs that have not ended")
	return list
}

func showRuns(cmd *cobra.Command, g *global, runs []parley.Run) error {
	type row struct {
		ID       string    `json:"run_id"`
		ThreadID string    `json:"continuation_id"`
		Tool     string    `json:"tool"`
		State    string    `json:"status"`
		Model    string    `json:"model"`
		Title    string    `json:"title"`
		Started  time.Time `json:"started_at"`
		Elapsed  float64   `json:"elapsed_seconds"`
	}
	rows := []row{}
	for _, r := range runs {
		model := ""
		if len(r.Seats) > 0 {
			model = r.Seats[0].Decision.Chosen.String()
		}
		rows = append(rows, row{
			r.ID, r.ThreadID, r.Tool, mcpserver.StatusOf(r.State), model, r.Title, r.CreatedAt.UTC(),
			r.Elapsed(time.Now()).Round(100 * time.Millisecond).Seconds(),
		})
	}
	if g.json {
		return printJSON(cmd.OutOrStdout(), rows)
	}
	for _, r := range rows {
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %-11s %-8s %6.1fs  %-22s %s\n", r.ID, r.State, r.Tool, r.Elapsed, r.Model, plain(r.Title))
	}
	if len(rows) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "No runs. They are kept for three days after they end; threads are kept for good.")
	}
	return nil
}

func runsShow(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "A run, with its answer or what it has so far", Args: cobra.ExactArgs(1),
		Example: "  parley runs show run_…",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.engine.RunOf(cmd.Context(), args[0], principal())
			if err != nil {
				return err
			}
			view, err := a.engine.Look(cmd.Context(), run.ID)
			if err != nil {
				return err
			}
			return showRun(cmd, g, view.Run, view.Draft)
		}),
	}
}

func showRun(cmd *cobra.Command, g *global, run parley.Run, draft string) error {
	if g.json {
		return printJSON(cmd.OutOrStdout(), mcpserver.AnswerOf(run, draft, time.Now()))
	}
	text := mcpserver.TextOf(run, draft, time.Now())
	if isTerminal(cmd.OutOrStdout()) {
		text = plain(text)
	}
	fmt.Fprintln(cmd.OutOrStdout(), text)
	return nil
}

func runsWait(g *global) *cobra.Command {
	var timeout time.Duration
	wait := &cobra.Command{
		Use: "wait ID", Short: "Wait for a run to end, and show it", Args: cobra.ExactArgs(1),
		Long: "wait returns when the run has ended; exit 1 if it did not end well. If no process works on the\n" +
			"run, this one does.",
		Example: "  parley runs wait run_…\n  parley runs wait --timeout 2m run_…",
		RunE: withApp(g, true, func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.engine.RunOf(cmd.Context(), args[0], principal())
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			spin := startSpinner(cmd.ErrOrStderr(), func() string {
				return fmt.Sprintf("waiting for %s, %.0fs", run.ID, time.Since(run.CreatedAt).Seconds())
			})
			ended, err := a.engine.Await(ctx, run.ID)
			spin.Stop()
			if err != nil && cmd.Context().Err() == nil && ctx.Err() != nil {
				return parley.Errorf(parley.CodeTimeout, "the run has not ended after %s", timeout).
					WithHint("It goes on; wait again, or look at it with `parley runs show %s`.", run.ID)
			}
			if err != nil {
				return err
			}
			if err := showRun(cmd, g, ended, ""); err != nil {
				return err
			}
			if !ended.State.Answered() {
				return &quietError{exitFailed}
			}
			return nil
		}),
	}
	wait.Flags().DurationVar(&timeout, "timeout", 0, "give up waiting after this time; the run goes on")
	return wait
}

func runsCancel(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Stop a run, whichever process works on it", Args: cobra.ExactArgs(1),
		Example: "  parley runs cancel run_…",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.engine.RunOf(cmd.Context(), args[0], principal())
			if err != nil {
				return err
			}
			if run.State.Ended() {
				fmt.Fprintf(cmd.ErrOrStderr(), "The run had ended already: %s.\n", run.State)
				return showRun(cmd, g, run, "")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 30*time.Second)
			defer cancel()
			if run, err = a.engine.Cancel(ctx, run.ID); err != nil {
				return err
			}
			return showRun(cmd, g, run, "")
		}),
	}
}
