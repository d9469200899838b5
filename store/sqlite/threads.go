package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"parley"
)

// defaultLimit is how many threads or runs a list holds if nobody says.
const defaultLimit = 10

const selectThread = "SELECT " + threadColumns + " FROM threads WHERE id = ?"

// Thread returns a thread.
func (db *DB) Thread(ctx context.Context, id string) (parley.Thread, error) {
	thread, err := scanThread(db.reads.QueryRowContext(ctx, selectThread, id))
	if errors.Is(err, sql.ErrNoRows) {
		return parley.Thread{}, threadNotFound(id)
	}
	return thread, db.explain(ctx, "read thread", err)
}

// Threads lists a principal's threads, the last used first.
func (db *DB) Threads(ctx context.Context, q parley.ThreadQuery) ([]parley.Thread, error) {
	threads, err := list(ctx, db.reads, scanThread, "SELECT "+threadColumns+` FROM threads
		WHERE principal = ?1 AND (?2 = '' OR project = ?2)
		ORDER BY updated_at DESC, rowid DESC LIMIT ?3`, q.Principal, q.Project, limit(q.Limit))
	return threads, db.explain(ctx, "list threads", err)
}

// Turns returns the turns of a span in order; those that are not there are left out.
func (db *DB) Turns(ctx context.Context, threadID string, span parley.Span) ([]parley.Turn, error) {
	if span.Len() == 0 {
		return nil, nil
	}
	turns, err := list(ctx, db.reads, scanTurn, "SELECT "+turnColumns+` FROM turns
		WHERE thread_id = ? AND number BETWEEN ? AND ? ORDER BY number`, threadID, span.From, span.Through)
	return turns, db.explain(ctx, "read turns", err)
}

// TurnAfter returns the number of the first turn before which at least tokens
// have been spent. It reads one index entry, however long the thread.
func (db *DB) TurnAfter(ctx context.Context, threadID string, tokens int64) (int, error) {
	var number int
	err := db.reads.QueryRowContext(ctx, `
		SELECT CASE WHEN ?2 <= 0 THEN 1 ELSE coalesce(
			(SELECT number + 1 FROM turns WHERE thread_id = ?1 AND tokens_through >= ?2 ORDER BY tokens_through LIMIT 1),
			threads.turns + 1) END
		FROM threads WHERE id = ?1`, threadID, tokens).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, threadNotFound(threadID)
	}
	return number, db.explain(ctx, "find turn", err)
}

func (t *tx) insertThread(thread parley.Thread) error {
	inserted, err := t.exec(`INSERT INTO threads (id, title, principal, project, tool, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		thread.ID, thread.Title, thread.Principal, thread.Project, thread.Tool,
		thread.CreatedAt.UnixMilli(), thread.UpdatedAt.UnixMilli())
	if err == nil && inserted == 0 {
		return parley.Errorf(parley.CodeInvalidArgument, "the thread %s already exists", thread.ID).
			WithHint("Continue it without new_thread, or choose another id.")
	}
	return err
}

// appendTurn gives the turn the next number of its thread and commits it to
// the thread's sums.
func (t *tx) appendTurn(turn parley.Turn, model parley.ModelRef) (number int, err error) {
	answers, err := text(turn.Answers)
	if err != nil {
		return 0, err
	}
	var through int64
	err = t.row(`UPDATE threads SET turns = turns + 1, tokens = tokens + ?, updated_at = max(updated_at, ?),
		last_provider = ?, last_model = ? WHERE id = ? RETURNING turns, tokens`,
		turn.Tokens(), turn.EndedAt.UnixMilli(), model.Provider, model.Name, turn.ThreadID).Scan(&number, &through)
	if err != nil {
		return 0, err
	}
	_, err = t.exec("INSERT INTO turns ("+turnColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		turn.ThreadID, number, turn.RunID, turn.Tool, turn.Question, turn.QuestionTokens, turn.Stamp, answers,
		millis(turn.AskedAt), turn.EndedAt.UnixMilli(), through)
	return number, err
}

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return n
}
