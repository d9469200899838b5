package route

import (
	"slices"

	"parley"
)

// classOf says what kind of model a tool wants: quick ones for talk, thorough
// ones for work that is done once.
func classOf(tool string) parley.Class {
	switch tool {
	case "chat", "challenge", "listmodels", "version":
		return parley.ClassFast
	case "thinkdeep", "debug", "analyze", "codereview", "precommit", "secaudit",
		"testgen", "refactor", "docgen", "planner", "tracer", "consensus":
		return parley.ClassDeep
	}
	return parley.ClassBalanced
}

// byTool takes the first provider that has a default for the tool's class. The
// demo is only for those who have nothing else.
func (r *router) byTool(tool string) (Choice, error) {
	class := classOf(tool)
	onlyDemo := !slices.ContainsFunc(r.Providers, func(p string) bool { return p != demo })
	var c Choice
	var rejected []parley.Candidate
	viable := 0
	for _, p := range r.Providers {
		m, ok := r.defaultOf(p, class)
		switch {
		case !ok:
			rejected = append(rejected, parley.Candidate{Model: p, Rejected: "it has no default model; name one as " + p + "/model"})
		case p == demo && !onlyDemo:
			rejected = append(rejected, parley.Candidate{Model: m.String(), Rejected: "simulated; only chosen when named, or when nothing else is configured"})
		case viable > 0:
			viable++
			rejected = append(rejected, parley.Candidate{Model: m.String(), Rejected: c.Model.Provider + " comes first"})
		default:
			viable++
			c = chosen(m, parley.ReasonAutoToolDefault)
		}
	}
	switch viable {
	case 0:
		return Choice{}, r.nothing("")
	case 1:
		c.Reason = parley.ReasonOnlyOne
	}
	c.Candidates = append(c.Candidates, rejected...)
	return c, nil
}

func (r *router) defaultOf(provider string, class parley.Class) (parley.Model, bool) {
	if own := r.Models[provider]; own != "" && r.allowed(r.model(provider, own)) {
		return r.model(provider, own), true
	}
	if len(r.Allowed[provider]) > 0 {
		return r.allowedDefault(provider, class)
	}
	return r.Catalogue.Default(provider, class)
}
