package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"parley"
)

// orphaned reports whether no living process works on a run.
func (db *DB) orphaned(owner string, heartbeat time.Time) bool {
	switch db.owners.state(owner) {
	case alive:
		return false
	case unsure:
		return db.now().Sub(heartbeat) > lease
	default:
		return true
	}
}

// RequestCancel asks the run's owner to stop, and is content with a run that
// has ended. A run without a living owner is cancelled at once and keeps its
// draft as its result.
func (db *DB) RequestCancel(ctx context.Context, runID string) error {
	err := db.writer.write(ctx, func(t *tx) error {
		run, err := t.run(runID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return runNotFound(runID)
		case err != nil || run.State.Ended():
			return err
		case db.orphaned(run.Owner, run.HeartbeatAt):
			return t.cancel(run, db.now())
		}
		_, err = t.exec("UPDATE runs SET cancel_requested = 1 WHERE id = ?", runID)
		return err
	})
	return db.explain(ctx, "cancel run", err)
}

func (t *tx) cancel(run parley.Run, at time.Time) error {
	rows, err := t.rows(selectDraft, run.ID)
	if err != nil {
		return err
	}
	chunks, err := collect(rows, scanValue[string])
	if err != nil {
		return err
	}
	result := parley.Result{Content: strings.Join(chunks, "")}
	if len(run.Seats) > 0 {
		result.Model = run.Seats[0].Decision.Chosen
	}
	_, err = t.end(run, parley.Ending{
		State:  parley.StateCancelled,
		Result: result,
		Err:    parley.Errorf(parley.CodeCancelled, "the run was cancelled"),
		At:     at,
	})
	return err
}

// Heartbeat keeps this process's runs. Without live runs it writes nothing.
func (db *DB) Heartbeat(ctx context.Context, now time.Time) error {
	var busy bool
	err := db.reads.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs WHERE owner = ? AND "+live+")",
		db.Owner()).Scan(&busy)
	if err != nil || !busy {
		return db.explain(ctx, "heartbeat", err)
	}
	err = db.writer.write(ctx, func(t *tx) error {
		_, err := t.exec("UPDATE runs SET heartbeat_at = ? WHERE owner = ? AND "+live, now.UnixMilli(), db.Owner())
		return err
	})
	return db.explain(ctx, "heartbeat", err)
}

// CancelRequests returns those of this process's live runs that someone asked
// to cancel.
func (db *DB) CancelRequests(ctx context.Context) ([]string, error) {
	ids, err := list(ctx, db.reads, scanValue[string],
		"SELECT id FROM runs WHERE owner = ? AND cancel_requested = 1 AND "+live+" ORDER BY created_at, rowid", db.Owner())
	return ids, db.explain(ctx, "read cancel requests", err)
}

// Orphans returns the live runs that no living process works on, oldest first,
// and removes what dead processes without runs have left behind.
func (db *DB) Orphans(ctx context.Context) ([]parley.Run, error) {
	orphans, err := db.orphans(ctx)
	return orphans, db.explain(ctx, "find orphans", err)
}

func (db *DB) orphans(ctx context.Context) ([]parley.Run, error) {
	type claim struct {
		id, owner string
		heartbeat time.Time
	}
	claims, err := list(ctx, db.reads, func(row scanner) (c claim, err error) {
		err = row.Scan(&c.id, &c.owner, moment{&c.heartbeat})
		return c, err
	}, "SELECT id, owner, heartbeat_at FROM runs WHERE "+live+" ORDER BY created_at, rowid")
	if err != nil {
		return nil, err
	}
	var orphans []parley.Run
	busy, living := map[string]bool{}, map[string]bool{}
	for _, c := range claims {
		busy[c.owner] = true
		if living[c.owner] {
			continue
		}
		if !db.orphaned(c.owner, c.heartbeat) {
			living[c.owner] = true
			continue
		}
		run, err := scanRun(db.reads.QueryRowContext(ctx, selectRun+" AND owner = ? AND "+live, c.id, c.owner))
		if errors.Is(err, sql.ErrNoRows) {
			continue // someone was faster
		}
		if err != nil {
			return nil, err
		}
		orphans = append(orphans, run)
	}
	return orphans, db.owners.sweep(busy)
}

// Claim makes this process the owner of an orphan, as a new attempt. The old
// attempt's draft stays until the new one has its own. A run whose owner lives
// is no orphan and cannot be claimed.
func (db *DB) Claim(ctx context.Context, f parley.Fence, now time.Time) (parley.Run, error) {
	var claimed parley.Run
	err := db.writer.write(ctx, func(t *tx) error {
		if err := t.checkVersion(); err != nil {
			return err
		}
		run, err := t.run(f.RunID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return runNotFound(f.RunID)
		case err != nil:
			return err
		case run.State.Ended() || run.Fence() != f || !db.orphaned(run.Owner, run.HeartbeatAt):
			return parley.ErrFenced
		}
		_, err = t.exec("UPDATE runs SET owner = ?, attempt = attempt + 1, state = ?, heartbeat_at = ? WHERE id = ?",
			db.Owner(), parley.StateRunning, now.UnixMilli(), f.RunID)
		if err != nil {
			return err
		}
		claimed, err = t.run(f.RunID)
		return err
	})
	if err != nil {
		return parley.Run{}, db.explain(ctx, "claim run", err)
	}
	return claimed, nil
}
