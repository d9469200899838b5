package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"parley"
)

// Begin writes a run down, and its thread if begin is not nil. A run whose
// idempotency key was used before is the earlier run, and nothing is written.
func (db *DB) Begin(ctx context.Context, run parley.Run, begin *parley.Thread) (parley.Run, error) {
	now := db.now()
	run.HeartbeatAt = now
	if run.CreatedAt.IsZero() {
		run.CreatedAt = now
	}
	var stored parley.Run
	err := db.writer.write(ctx, func(t *tx) (err error) {
		// Another process may have migrated the store since this one opened it.
		if err := t.checkVersion(); err != nil {
			return err
		}
		stored, err = t.runByKey(run.Principal, run.Request.IdempotencyKey)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil || !stored.State.Ended() || stored.State.Answered():
			return err
		default:
			// It came to nothing, so the key is free for another try.
			if err := t.freeKey(stored.ID); err != nil {
				return err
			}
		}
		if err := t.beginThread(run, begin); err != nil {
			return err
		}
		if err := t.insertRun(run); err != nil {
			return err
		}
		stored, err = t.run(run.ID)
		return err
	})
	if err != nil {
		return parley.Run{}, db.explain(ctx, "begin run", err)
	}
	return stored, nil
}

func (t *tx) freeKey(runID string) error {
	_, err := t.exec("UPDATE runs SET idempotency_key = '' WHERE id = ?", runID)
	return err
}

func (t *tx) checkVersion() error {
	var v version
	if err := t.row(selectVersion).Scan(&v.schema, &v.minReader); err != nil {
		return err
	}
	return v.check()
}

// beginThread inserts the run's thread, or makes sure that it is there.
func (t *tx) beginThread(run parley.Run, begin *parley.Thread) error {
	if begin == nil {
		_, err := scanThread(t.row(selectThread, run.ThreadID))
		if errors.Is(err, sql.ErrNoRows) {
			return threadNotFound(run.ThreadID)
		}
		return err
	}
	thread := *begin
	if thread.ID != run.ThreadID {
		return fmt.Errorf("run %s is on thread %s, not on the new thread %s", run.ID, run.ThreadID, thread.ID)
	}
	if thread.CreatedAt.IsZero() {
		thread.CreatedAt = run.CreatedAt
	}
	if thread.UpdatedAt.IsZero() {
		thread.UpdatedAt = thread.CreatedAt
	}
	return t.insertThread(thread)
}

func (t *tx) insertRun(run parley.Run) error {
	request, err := text(run.Request)
	if err != nil {
		return err
	}
	seats, err := text(run.Seats)
	if err != nil {
		return err
	}
	progress, err := text(run.Progress)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO runs (id, thread_id, principal, project, tool, title, state, mode, idempotency_key,
			request, seats, owner, attempt, cancel_requested, progress, created_at, heartbeat_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run.ID, run.ThreadID, run.Principal, run.Project, run.Tool, run.Title, run.State, run.Mode,
		run.Request.IdempotencyKey, request, seats, run.Owner, run.Attempt, run.CancelRequested, progress,
		millis(run.CreatedAt), millis(run.HeartbeatAt))
	return err
}

// runByKey returns sql.ErrNoRows for a key that is empty or was not used.
func (t *tx) runByKey(principal, key string) (parley.Run, error) {
	if key == "" {
		return parley.Run{}, sql.ErrNoRows
	}
	return scanRun(t.row("SELECT "+runColumns+` FROM runs
		WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`, principal, key))
}

const selectRun = "SELECT " + runColumns + " FROM runs WHERE id = ?"

func (t *tx) run(id string) (parley.Run, error) { return scanRun(t.row(selectRun, id)) }

// Run returns a run.
func (db *DB) Run(ctx context.Context, id string) (parley.Run, error) {
	run, err := scanRun(db.reads.QueryRowContext(ctx, selectRun, id))
	if errors.Is(err, sql.ErrNoRows) {
		return parley.Run{}, runNotFound(id)
	}
	return run, db.explain(ctx, "read run", err)
}

// Runs lists a principal's runs, newest first.
func (db *DB) Runs(ctx context.Context, q parley.RunQuery) ([]parley.Run, error) {
	where, args := []string{"principal = ?"}, []any{q.Principal}
	if q.ThreadID != "" {
		where, args = append(where, "thread_id = ?"), append(args, q.ThreadID)
	}
	if q.Live {
		where = append(where, live)
	}
	runs, err := list(ctx, db.reads, scanRun, "SELECT "+runColumns+" FROM runs WHERE "+strings.Join(where, " AND ")+
		" ORDER BY created_at DESC, rowid DESC LIMIT ?", append(args, limit(q.Limit))...)
	return runs, db.explain(ctx, "list runs", err)
}

// A run that is taken up shows its old draft until the new attempt has one.
const selectDraft = `SELECT text FROM run_chunks WHERE run_id = ?1
	AND attempt = (SELECT max(attempt) FROM run_chunks WHERE run_id = ?1) ORDER BY id`

// Draft returns what a live run has streamed so far; nothing for an ended one,
// whose text is in its result.
func (db *DB) Draft(ctx context.Context, runID string) (string, error) {
	chunks, err := list(ctx, db.reads, scanValue[string], selectDraft, runID)
	if err == nil && len(chunks) == 0 {
		err = db.mustExist(ctx, runID)
	}
	return strings.Join(chunks, ""), db.explain(ctx, "read draft", err)
}

// Checkpoints returns what a live run has finished, by name.
func (db *DB) Checkpoints(ctx context.Context, runID string) (map[string][]byte, error) {
	type step struct {
		name string
		data []byte
	}
	steps, err := list(ctx, db.reads, func(row scanner) (s step, err error) {
		err = row.Scan(&s.name, &s.data)
		return s, err
	}, "SELECT name, data FROM run_steps WHERE run_id = ?", runID)
	if err == nil && len(steps) == 0 {
		err = db.mustExist(ctx, runID)
	}
	if err != nil {
		return nil, db.explain(ctx, "read checkpoints", err)
	}
	byName := make(map[string][]byte, len(steps))
	for _, s := range steps {
		byName[s.name] = s.data
	}
	return byName, nil
}

func (db *DB) mustExist(ctx context.Context, runID string) error {
	var one int
	err := db.reads.QueryRowContext(ctx, "SELECT 1 FROM runs WHERE id = ?", runID).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return runNotFound(runID)
	}
	return err
}

func scanValue[T any](row scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}
