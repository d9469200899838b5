package main

import (
	"github.com/spf13/cobra"
)

// global are the flags that every command has.
type global struct {
	envFile string
	demo    string
	json    bool
}

func rootCommand() *cobra.Command {
	g := &global{}
	root := &cobra.Command{
		Use:   "parley",
		Short: "Let a coding agent consult every other model",
		Long: "parley is an MCP server with durable conversation threads that any tool, model or client can\n" +
			"continue, and the same from the terminal.",
		Example: "  parley demo                        # the whole product on simulated models, no key needed\n" +
			"  parley chat \"Is this lock safe?\"    # one question from the terminal\n" +
			"  parley serve                       # MCP server on stdio, for your client's configuration\n" +
			"  parley doctor                      # what can answer, and what to do about the rest",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrongUsage("there is no command %q; `parley --help` lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.envFile, "env-file", "", "read variables that are not set from this file")
	flags.StringVar(&g.demo, "demo", "off", "simulated models: on, off, or auto (only if nothing else can answer)")
	flags.BoolVar(&g.json, "json", false, "print JSON for programs")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return wrongUsage("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(
		serveCommand(g), chatCommand(g), threadsCommand(g), runsCommand(g),
		modelsCommand(g), doctorCommand(g), demoCommand(), versionCommand(g),
	)
	for _, c := range root.Commands() {
		strict(c)
	}
	return root
}

// strict turns wrong numbers of arguments into usage errors.
func strict(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return wrongUsage("%w; see `%s --help`", err, cmd.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}
