package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"parley"
)

// live must stay as it is in the partial index runs_live.
const live = "state IN ('queued', 'running')"

const (
	threadColumns = `id, title, principal, project, tool, created_at, updated_at, turns, tokens, last_provider, last_model`
	turnColumns   = `thread_id, number, run_id, tool, question, question_tokens, stamp, answers, asked_at, ended_at, tokens_through`
	runColumns    = `id, thread_id, principal, project, tool, title, state, mode, request, seats, owner, attempt,
		cancel_requested, progress, created_at, heartbeat_at, ended_at, result, error`
)

func scanThread(row scanner) (parley.Thread, error) {
	var t parley.Thread
	err := row.Scan(&t.ID, &t.Title, &t.Principal, &t.Project, &t.Tool, moment{&t.CreatedAt}, moment{&t.UpdatedAt},
		&t.Turns, &t.Tokens, &t.LastModel.Provider, &t.LastModel.Name)
	return t, err
}

func scanTurn(row scanner) (parley.Turn, error) {
	var t parley.Turn
	err := row.Scan(&t.ThreadID, &t.Number, &t.RunID, &t.Tool, &t.Question, &t.QuestionTokens, &t.Stamp,
		document{&t.Answers}, moment{&t.AskedAt}, moment{&t.EndedAt}, &t.TokensThrough)
	return t, err
}

func scanRun(row scanner) (parley.Run, error) {
	var r parley.Run
	err := row.Scan(&r.ID, &r.ThreadID, &r.Principal, &r.Project, &r.Tool, &r.Title, &r.State, &r.Mode,
		document{&r.Request}, document{&r.Seats}, &r.Owner, &r.Attempt, &r.CancelRequested, document{&r.Progress},
		moment{&r.CreatedAt}, moment{&r.HeartbeatAt}, moment{&r.EndedAt}, document{&r.Result}, document{&r.Err})
	return r, err
}

// list reads all rows of a query.
func list[T any](ctx context.Context, db *sql.DB, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// moment scans a time column; NULL is the zero time.
type moment struct{ to *time.Time }

func (m moment) Scan(value any) error {
	switch ms := value.(type) {
	case nil:
		*m.to = time.Time{}
	case int64:
		*m.to = time.UnixMilli(ms).UTC()
	default:
		return fmt.Errorf("a time is stored as %T", value)
	}
	return nil
}

// millis is the value of a time column.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// document scans a JSON column; NULL leaves the target as it is.
type document struct{ to any }

func (d document) Scan(value any) error {
	switch text := value.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), d.to)
	case []byte:
		return json.Unmarshal(text, d.to)
	default:
		return fmt.Errorf("a document is stored as %T", value)
	}
}

// text encodes the value of a JSON column. It leaves <, > and & alone: code is
// full of them.
func text(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
