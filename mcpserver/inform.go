package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"parley"
)

// listModels says which models can answer now, and what is missing for the rest.
func (s *server) listModels(_ context.Context, c call) (*answer, error) {
	all := slices.Clone(s.cfg.Models())
	if want := c.args.text("provider"); want != "" {
		all = slices.DeleteFunc(all, func(p ProviderModels) bool { return !strings.EqualFold(p.Provider, want) })
		if len(all) == 0 {
			return nil, parley.Errorf(parley.CodeInvalidArgument, "there is no provider %q", want[:min(len(want), 64)]).
				WithHint("Call listmodels without provider to see them all.")
		}
	}
	capability := c.args.text("capability")
	var lines []string
	available := 0
	for i, p := range all {
		p.Models = slices.DeleteFunc(slices.Clone(p.Models), func(m ModelEntry) bool { return !m.can(capability) })
		all[i].Models = p.Models
		if !p.Available {
			lines = append(lines, fmt.Sprintf("%s: not available. %s", p.Provider, p.Missing))
			continue
		}
		available++
		lines = append(lines, p.Provider+":")
		for _, m := range p.Models {
			lines = append(lines, "  "+m.describe())
		}
	}
	a := &answer{Status: "completed", Models: all, Content: strings.Join(lines, "\n")}
	a.head = fmt.Sprintf("COMPLETED | LISTMODELS | %d of %d providers available", available, len(all))
	return a, nil
}

func (m ModelEntry) can(capability string) bool {
	switch capability {
	case "images":
		return m.Images
	case "websearch":
		return m.WebSearch
	case "reasoning":
		return len(m.Efforts) > 0
	}
	return true
}

func (m ModelEntry) describe() string {
	parts := []string{m.Name}
	if len(m.Aliases) > 0 {
		parts = append(parts, "("+strings.Join(m.Aliases, ", ")+")")
	}
	if m.Context > 0 {
		parts = append(parts, fmt.Sprintf("%dk context", m.Context/1000))
	}
	if len(m.Efforts) > 0 {
		parts = append(parts, "effort "+strings.Join(m.Efforts, "/"))
	}
	if m.InputUSD != nil && m.OutputUSD != nil {
		parts = append(parts, fmt.Sprintf("$%g in, $%g out per million", *m.InputUSD, *m.OutputUSD))
	}
	return strings.Join(parts, " ")
}

func (s *server) version(context.Context, call) (*answer, error) {
	v := s.cfg.Version
	return &answer{
		Status: "completed", Version: &v,
		head: "COMPLETED | VERSION | parley " + v.Version,
		Content: fmt.Sprintf("parley %s, commit %s, %s, MCP revisions %s",
			v.Version, cmp.Or(v.Commit, "unknown"), v.Go, strings.Join(v.Protocols, ", ")),
	}, nil
}

// challenge answers without asking a model: it makes the caller think again.
func (s *server) challenge(_ context.Context, c call) (*answer, error) {
	content := "Examine this statement critically before you agree with it. Do not assume that it is right because " +
		"somebody said it, nor that it is wrong because it was challenged. Look for the evidence, name what speaks " +
		"against it and what it leaves out, and say plainly where it is right, where it is not, and what you cannot know.\n\n" +
		"The statement:\n\n" + c.args.text("prompt") + "\n\nAnswer with your reasons, not with agreement."
	return &answer{Status: "completed", Content: content, head: "COMPLETED | CHALLENGE"}, nil
}
