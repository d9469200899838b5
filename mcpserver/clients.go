package mcpserver

import (
	"strings"
	"time"
)

// half says which half of a result a client shows its model.
type half int

const (
	bothHalves half = iota
	// structuredOnly clients drop the text when there is structured content, so
	// they get text alone.
	structuredOnly
)

// client is one row of the table of clients: what we know of how a client
// behaves, by the name it gives itself.
type client struct {
	// name is matched as a prefix of the client's own name, in lower case.
	name string
	// block is how long a call may keep it waiting.
	block time.Duration
	// chars is how long an answer may be before the client cuts it.
	chars int
	shows half
}

// strangers are treated as the shortest-tempered client.
func stranger() client {
	return client{block: 50 * time.Second, chars: 12_000, shows: bothHalves}
}

func clients() []client {
	return []client{
		{name: "claude-code", block: 280 * time.Second, chars: 48_000, shows: structuredOnly},
		{name: "codex", block: 280 * time.Second, chars: 12_000, shows: structuredOnly},
		{name: "gemini-cli", block: 560 * time.Second, chars: 40_000, shows: bothHalves},
	}
}

// clientFor finds the row for a client's own name, with the user's overrides.
func (s *server) clientFor(name string) client {
	row := stranger()
	for _, c := range clients() {
		if strings.HasPrefix(strings.ToLower(name), c.name) {
			row = c
			break
		}
	}
	if s.cfg.Block > 0 {
		row.block = s.cfg.Block
	}
	if s.cfg.MaxChars > 0 {
		row.chars = s.cfg.MaxChars
	}
	switch s.cfg.Structured {
	case "always":
		row.shows = bothHalves
	case "never":
		row.shows = structuredOnly
	}
	return row
}
