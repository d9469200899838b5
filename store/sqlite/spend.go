package sqlite

import (
	"context"

	"parley"
)

// RecordSpend writes down what an upstream request cost.
func (db *DB) RecordSpend(ctx context.Context, s parley.Spend) error {
	if s.At.IsZero() {
		s.At = db.now()
	}
	err := db.writer.write(ctx, func(t *tx) error { return t.insertSpend(s) })
	return db.explain(ctx, "record spend", err)
}

func (t *tx) insertSpend(s parley.Spend) error {
	_, err := t.exec(`INSERT INTO costs (run_id, thread_id, tool, provider, model, attempt, input_tokens,
			output_tokens, cached_input_tokens, cache_creation_tokens, reasoning_tokens, cost_micros, outcome, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.RunID, s.ThreadID, s.Tool, s.Model.Provider, s.Model.Name, s.Attempt, s.Usage.InputTokens,
		s.Usage.OutputTokens, s.Usage.CachedInputTokens, s.Usage.CacheCreationInput, s.Usage.ReasoningTokens,
		s.Usage.CostMicros, s.Outcome, s.At.UnixMilli())
	return err
}
