package sqlite

import (
	"context"
	"time"

	"parley"
)

// pruneBatch bounds one transaction, so that others get their turn in between.
const pruneBatch = 50

// Prune removes ended runs and idle threads, with all that belongs to them. A
// thread with a live or a recently ended run is not idle. Costs are kept.
func (db *DB) Prune(ctx context.Context, p parley.Retention) error {
	err := db.pruneAll(ctx, p.RunsEndedBefore, `DELETE FROM runs WHERE id IN
		(SELECT id FROM runs WHERE ended_at IS NOT NULL AND ended_at < ?1 LIMIT ?2)`)
	if err != nil {
		return db.explain(ctx, "prune runs", err)
	}
	err = db.pruneAll(ctx, p.ThreadsIdleBefore, `DELETE FROM threads WHERE id IN
		(SELECT id FROM threads WHERE updated_at < ?1 AND NOT EXISTS
			(SELECT 1 FROM runs WHERE thread_id = threads.id AND (ended_at IS NULL OR ended_at >= ?1)) LIMIT ?2)`)
	return db.explain(ctx, "prune threads", err)
}

func (db *DB) pruneAll(ctx context.Context, before time.Time, query string) error {
	if before.IsZero() {
		return nil
	}
	for {
		var removed int64
		err := db.writer.write(ctx, func(t *tx) (err error) {
			if err := t.checkVersion(); err != nil {
				return err
			}
			removed, err = t.exec(query, before.UnixMilli(), pruneBatch)
			return err
		})
		if err != nil || removed < pruneBatch {
			return err
		}
	}
}
