package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"parley"
)

// held is true for a live run that the fence's owner has. Nobody's fence holds
// nothing: a run without an owner can only be claimed.
const held = "id = ? AND owner = ? AND owner <> '' AND attempt = ? AND " + live

func (db *DB) fenced(ctx context.Context, doing string, do func(*tx) error) error {
	return db.explain(ctx, doing, db.writer.write(ctx, do))
}

// hit turns a write that changed nothing into ErrFenced.
func hit(changed int64, err error) error {
	if err == nil && changed == 0 {
		return parley.ErrFenced
	}
	return err
}

// Update writes a live run's state, mode and progress.
func (db *DB) Update(ctx context.Context, f parley.Fence, u parley.RunUpdate) error {
	if u.State != nil && u.State.Ended() {
		return fmt.Errorf("update run: only End may make it %s", *u.State)
	}
	var progress *string
	if u.Progress != nil {
		encoded, err := text(u.Progress)
		if err != nil {
			return fmt.Errorf("update run: %w", err)
		}
		progress = &encoded
	}
	return db.fenced(ctx, "update run", func(t *tx) error {
		return hit(t.exec(`UPDATE runs SET state = coalesce(?, state), mode = coalesce(?, mode),
			progress = coalesce(?, progress) WHERE `+held, u.State, u.Mode, progress, f.RunID, f.Owner, f.Attempt))
	})
}

// AppendDraft adds a piece of what the run streams.
func (db *DB) AppendDraft(ctx context.Context, f parley.Fence, text string) error {
	return db.fenced(ctx, "append draft", func(t *tx) error {
		return hit(t.exec("INSERT INTO run_chunks (run_id, attempt, text) SELECT id, attempt, ? FROM runs WHERE "+held,
			text, f.RunID, f.Owner, f.Attempt))
	})
}

// Checkpoint stores a finished part under a name.
func (db *DB) Checkpoint(ctx context.Context, f parley.Fence, name string, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return db.fenced(ctx, "store checkpoint", func(t *tx) error {
		return hit(t.exec("INSERT INTO run_steps (run_id, name, data) SELECT id, ?, ? FROM runs WHERE "+held+
			" ON CONFLICT (run_id, name) DO UPDATE SET data = excluded.data",
			name, data, f.RunID, f.Owner, f.Attempt))
	})
}

// Release leaves a run to the next process that can take it up. Only a run that
// outlives its caller can be left.
func (db *DB) Release(ctx context.Context, f parley.Fence) error {
	return db.fenced(ctx, "release run", func(t *tx) error {
		run, err := t.held(f)
		if err != nil {
			return err
		}
		if !run.Mode.Outlives() {
			return fmt.Errorf("run %s is %s and ends with its caller", run.ID, run.Mode)
		}
		return hit(t.exec("UPDATE runs SET state = ?, owner = '' WHERE "+held,
			parley.StateQueued, f.RunID, f.Owner, f.Attempt))
	})
}

// held returns the run that f is a permit for.
func (t *tx) held(f parley.Fence) (parley.Run, error) {
	run, err := scanRun(t.row("SELECT "+runColumns+" FROM runs WHERE "+held, f.RunID, f.Owner, f.Attempt))
	if errors.Is(err, sql.ErrNoRows) {
		return parley.Run{}, parley.ErrFenced
	}
	return run, err
}

// End closes the run, commits its turn if it has one and its spends, and returns
// the run as stored. Like every fenced write it has no effect if it fails with
// ErrFenced: the spends are for the caller to record then.
func (db *DB) End(ctx context.Context, f parley.Fence, e parley.Ending) (parley.Run, error) {
	if !e.State.Ended() {
		return parley.Run{}, fmt.Errorf("end run: %s is no end", e.State)
	}
	if e.At.IsZero() {
		e.At = db.now()
	}
	var ended parley.Run
	err := db.fenced(ctx, "end run", func(t *tx) error {
		run, err := t.held(f)
		if err != nil {
			return err
		}
		ended, err = t.end(run, e)
		return err
	})
	if err != nil {
		return parley.Run{}, err
	}
	return ended, nil
}

func (t *tx) end(run parley.Run, e parley.Ending) (parley.Run, error) {
	result := e.Result
	result.Turn = 0
	if e.Turn != nil {
		turn := *e.Turn
		turn.ThreadID, turn.RunID, turn.EndedAt = run.ThreadID, run.ID, e.At
		if turn.Tool == "" {
			turn.Tool = run.Tool
		}
		number, err := t.appendTurn(turn, result.Model)
		if err != nil {
			return parley.Run{}, err
		}
		result.Turn = number
	}
	for _, spend := range e.Spends {
		spend.RunID, spend.ThreadID = run.ID, run.ThreadID
		if spend.At.IsZero() {
			spend.At = e.At
		}
		if err := t.insertSpend(spend); err != nil {
			return parley.Run{}, err
		}
	}
	thread, err := scanThread(t.row(selectThread, run.ThreadID))
	if err != nil {
		return parley.Run{}, err
	}
	result.Messages = thread.Messages()
	if err := t.writeEnd(run.ID, e, result); err != nil {
		return parley.Run{}, err
	}
	return t.run(run.ID)
}

func (t *tx) writeEnd(runID string, e parley.Ending, result parley.Result) error {
	encoded, err := text(result)
	if err != nil {
		return err
	}
	var failure *string
	if e.Err != nil {
		encoded, err := text(e.Err)
		if err != nil {
			return err
		}
		failure = &encoded
	}
	if _, err := t.exec("UPDATE runs SET state = ?, result = ?, error = ?, ended_at = ? WHERE id = ?",
		e.State, encoded, failure, e.At.UnixMilli(), runID); err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM run_chunks WHERE run_id = ?", runID); err != nil {
		return err
	}
	_, err = t.exec("DELETE FROM run_steps WHERE run_id = ?", runID)
	return err
}
