package mcpserver

import (
	"slices"

	"parley"
)

// toolbox lists every tool. A new one is an entry here and a handler.
func toolbox(s *server) []tool {
	return []tool{
		{
			name: "chat", title: "Ask a model", openWorld: true,
			about:  "Ask another AI model: a second opinion, a question, a review of an idea. Continues any thread.",
			fields: chatFields(), handle: s.chat,
		},
		{
			name: "check_status", title: "Look at a run", idempotent: true,
			about:  "Status and answer of a background run; without an id the ten most recent runs.",
			fields: statusFields(), handle: s.checkStatus,
		},
		{
			name: "cancel_job", title: "Cancel a run", idempotent: true,
			about: "Stop a background run. A thread's id stops all its live runs.",
			fields: []field{
				{name: "continuation_id", kind: textField, required: true, about: "run or thread id"},
			},
			handle: s.cancelJob,
		},
		{
			name: "listmodels", title: "List models", idempotent: true, essential: true, alone: true,
			about: "Which models can answer now, and what is missing for the others.",
			fields: []field{
				{name: "provider", kind: textField},
				{name: "capability", kind: textField, about: "images, websearch or reasoning", words: []string{"images", "websearch", "reasoning"}},
			},
			handle: s.listModels,
		},
		{
			name: "version", title: "Version", idempotent: true, essential: true, alone: true,
			about: "Version of this server.", handle: s.version,
		},
		{
			name: "challenge", title: "Challenge a statement", idempotent: true, alone: true,
			about:  "Wraps a statement in instructions to examine it critically before agreeing. Asks no model.",
			fields: []field{{name: "prompt", kind: textField, required: true}}, handle: s.challenge,
		},
	}
}

func efforts() []string {
	var words []string
	for _, e := range parley.Efforts() {
		words = append(words, string(e))
	}
	return words
}

// questionFields are accepted by every tool that asks a model.
func questionFields() []field {
	return []field{
		{name: "model", kind: textField, about: "name, alias or provider/name; default auto"},
		{name: "continuation_id", kind: textField, about: "thread to continue"},
		{name: "reasoning_effort", kind: textField, words: efforts(), publishWords: true},
		{name: "temperature", kind: numberField, min: 0, max: 1, about: "0-1"},
		{name: "use_websearch", kind: flagField},
		{name: "async", kind: flagField, about: "run in the background"},

		{name: "thinking_mode", kind: textField, words: efforts(), hidden: true},
		{name: "provider", kind: textField, hidden: true},
		{name: "idempotency_key", kind: textField, hidden: true},
		{name: "new_thread", kind: flagField, hidden: true},

		{name: "files", later: true},
		{name: "images", later: true},
		{name: "export", later: true},
		{name: "profile", later: true},
		{name: "agentic_hint", later: true},
	}
}

func chatFields() []field {
	return slices.Concat([]field{
		{name: "prompt", kind: textField, required: true, about: "the question, with its context"},
	}, questionFields(), []field{
		{name: "verbosity", kind: textField, words: []string{"low", "medium", "high"}, publishWords: true},
		{name: "max_output_tokens", kind: integerField, min: 1, max: 1 << 20, hidden: true},
		{name: "media_resolution", later: true},
	})
}

func statusFields() []field {
	return []field{
		{name: "continuation_id", kind: textField, about: "run or thread id"},
		{name: "full_history", kind: flagField, about: "the thread's turns"},
		{name: "wait_seconds", kind: numberField, min: 0, max: 3600, about: "wait for the end"},
		// Published, because answers that were cut ask for it and strict clients
		// send nothing that the schema does not have.
		{name: "from", kind: integerField, min: 0, max: 1 << 30, hidden: true},
	}
}
