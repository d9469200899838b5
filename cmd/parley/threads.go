package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"parley"
)

func threadsCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "threads", Short: "The memory, from the terminal", Args: cobra.NoArgs,
		Example: "  parley threads list\n  parley threads show conv_…",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var all bool
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "The threads of this project, newest first", Args: cobra.NoArgs,
		Example: "  parley threads list\n  parley threads list --all --limit 50",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, _ []string) error {
			q := parley.ThreadQuery{Principal: principal(), Project: a.cfg.Project, Limit: limit}
			if all {
				q.Project = ""
			}
			threads, err := a.store.Threads(cmd.Context(), q)
			if err != nil {
				return err
			}
			return showThreads(cmd, g, threads, q.Project)
		}),
	}
	list.Flags().BoolVar(&all, "all", false, "threads of all projects")
	list.Flags().IntVar(&limit, "limit", 20, "how many at most")
	show := &cobra.Command{
		Use: "show ID", Short: "A thread's turns", Args: cobra.ExactArgs(1),
		Example: "  parley threads show conv_…",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, args []string) error {
			return a.showThread(cmd, g, args[0])
		}),
	}
	cmd.AddCommand(list, show)
	return cmd
}

type threadRow struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Project   string    `json:"project,omitempty"`
	Turns     int       `json:"turns"`
	Model     string    `json:"model,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func rowOf(t parley.Thread) threadRow {
	return threadRow{t.ID, t.Title, t.Project, t.Turns, t.LastModel.String(), t.CreatedAt.UTC(), t.UpdatedAt.UTC()}
}

func showThreads(cmd *cobra.Command, g *global, threads []parley.Thread, project string) error {
	rows := []threadRow{}
	for _, t := range threads {
		rows = append(rows, rowOf(t))
	}
	if g.json {
		return printJSON(cmd.OutOrStdout(), rows)
	}
	for _, r := range rows {
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %-16s %-9s %s\n", r.ID, ago(r.UpdatedAt), counted(r.Turns, "turn"), plain(r.Title))
	}
	if len(rows) == 0 {
		where := " yet"
		if project != "" {
			where = " in this project yet (--all shows all projects)"
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "No threads%s.\n", where)
	}
	return nil
}

func (a *app) showThread(cmd *cobra.Command, g *global, id string) error {
	t, err := a.engine.ThreadOf(cmd.Context(), id, principal())
	if err != nil {
		return err
	}
	turns, err := a.store.Turns(cmd.Context(), t.ID, parley.Span{From: 1, Through: t.Turns})
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if g.json {
		type answerRow struct {
			Model string `json:"model"`
			Text  string `json:"text"`
		}
		type turnRow struct {
			Turn     int         `json:"turn"`
			RunID    string      `json:"run_id"`
			Tool     string      `json:"tool"`
			Question string      `json:"question"`
			Answers  []answerRow `json:"answers"`
			AskedAt  time.Time   `json:"asked_at"`
		}
		list := []turnRow{}
		for _, turn := range turns {
			row := turnRow{Turn: turn.Number, RunID: turn.RunID, Tool: turn.Tool, Question: turn.Question, AskedAt: turn.AskedAt.UTC()}
			for _, said := range turn.Answers {
				row.Answers = append(row.Answers, answerRow{said.Model.String(), said.Text})
			}
			list = append(list, row)
		}
		return printJSON(out, struct {
			threadRow
			List []turnRow `json:"history"`
		}{rowOf(t), list})
	}
	fmt.Fprintf(out, "%s  %s\n", t.ID, plain(t.Title))
	for _, turn := range turns {
		fmt.Fprintf(out, "\n--- %d. %s, %s ---\n%s\n", turn.Number, turn.Tool, turn.AskedAt.Local().Format("2006-01-02 15:04"), plain(turn.Question))
		for _, said := range turn.Answers {
			fmt.Fprintf(out, "\n--- %s ---\n%s\n", said.Model, plain(said.Text))
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "\nGo on with: parley chat --continue %s \"…\"\n", t.ID)
	return nil
}
