package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley"
	"parley/mcpserver"
	"parley/provider/demo"
)

func modelsCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "models", Short: "What can answer, and what is missing for the rest", Args: cobra.NoArgs,
		Example: "  parley models\n  parley models --json",
		RunE: withApp(g, false, func(cmd *cobra.Command, a *app, _ []string) error {
			list := a.models()
			if g.json {
				return printJSON(cmd.OutOrStdout(), list)
			}
			for _, p := range list {
				if !p.Available {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: not available. %s\n", p.Provider, p.Missing)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", p.Provider)
				for _, m := range p.Models {
					aliases := ""
					if len(m.Aliases) > 0 {
						aliases = "  also " + strings.Join(m.Aliases, ", ")
					}
					fmt.Fprintf(cmd.OutOrStdout(), "  %-28s %s context%s\n", m.Name, thousands(m.Context), aliases)
				}
			}
			return nil
		}),
	}
}

func thousands(n int) string { return fmt.Sprintf("%5dk", n/1000) }

// models lists what can answer now, and what to do for the rest.
func (a *app) models() []mcpserver.ProviderModels {
	have := map[string]bool{}
	for _, p := range a.providers {
		have[p.ID()] = true
	}
	var list []mcpserver.ProviderModels
	for id, key := range keys() {
		p := mcpserver.ProviderModels{Provider: id, Available: have[id]}
		if !p.Available {
			if id == demo.ID {
				continue // only there if asked for
			}
			p.Missing = "Set " + key + "."
		}
		for _, m := range a.catalogue.Models(id) {
			p.Models = append(p.Models, entry(m))
		}
		if id == "custom" && p.Available && a.cfg.Custom.Model != "" {
			p.Models = append(p.Models, mcpserver.ModelEntry{
				Name: a.cfg.Custom.Model, Context: parley.UnknownContext, MaxOutput: parley.UnknownMaxOutput,
			})
		}
		if m, ok := a.catalogue.Default(id, parley.ClassFast); ok {
			p.Default = m.Name
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y mcpserver.ProviderModels) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Provider, y.Provider))
	})
	return list
}

func rank(p mcpserver.ProviderModels) int {
	if p.Available {
		return 0
	}
	return 1
}

func entry(m parley.Model) mcpserver.ModelEntry {
	e := mcpserver.ModelEntry{
		Name: m.Name, Aliases: m.Aliases, Context: m.Context, MaxOutput: m.MaxOutput, Images: m.Images, WebSearch: m.WebSearch,
	}
	for _, effort := range m.Efforts {
		e.Efforts = append(e.Efforts, string(effort))
	}
	if m.Price != nil {
		in, out := float64(m.Price.Input)/1e6, float64(m.Price.Output)/1e6
		e.InputUSD, e.OutputUSD = &in, &out
	}
	return e
}
