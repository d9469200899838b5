package route

import (
	"slices"
	"strings"

	"parley"
)

const (
	optionThinking = "thinking"
	optionOnline   = "online"
)

// cutOption splits name:option at the last colon.
func cutOption(name string) (base, option string, ok bool) {
	i := strings.LastIndexByte(name, ':')
	if i <= 0 || i == len(name)-1 {
		return name, "", false
	}
	return strings.TrimSpace(name[:i]), strings.ToLower(strings.TrimSpace(name[i+1:])), true
}

func isOption(option string) bool {
	return option == optionThinking || option == optionOnline || slices.Contains(parley.Efforts(), parley.Effort(option))
}

func (c Choice) withOption(option string) Choice {
	c.Option = option
	switch option {
	case "":
	case optionThinking:
		c.Effort = parley.EffortHigh
	case optionOnline:
		c.WebSearch = true
	default:
		c.Effort = parley.Effort(option)
	}
	return c
}

func optionNames() string {
	names := make([]string, 0, 9)
	for _, e := range parley.Efforts() {
		names = append(names, string(e))
	}
	return strings.Join(append(names, optionThinking, optionOnline), ", ")
}
