package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func versionCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Version, commit, Go version and MCP revisions", Args: cobra.NoArgs,
		Example: "  parley version\n  parley version --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := thisVersion()
			if g.json {
				return printJSON(cmd.OutOrStdout(), v)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "parley %s\ncommit %s\n%s\nMCP %s\n",
				v.Version, or(v.Commit, "unknown"), v.Go, strings.Join(v.Protocols, ", "))
			return nil
		},
	}
}
