-- Times are integer milliseconds UTC, NULL where there is none. Structured
-- values that are only ever read whole are JSON in TEXT.
--
-- Migrations only add, within a major version: processes of different versions
-- share the file. Each sets meta.schema to its own number; one that older
-- binaries must not work with raises meta.min_reader too.

-- +goose Up
CREATE TABLE meta (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    schema     INTEGER NOT NULL,
    min_reader INTEGER NOT NULL
) STRICT;

INSERT INTO meta (id, schema, min_reader) VALUES (1, 1, 1);

CREATE TABLE threads (
    id            TEXT PRIMARY KEY,
    title         TEXT    NOT NULL,
    principal     TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    turns         INTEGER NOT NULL DEFAULT 0,
    tokens        INTEGER NOT NULL DEFAULT 0,
    last_provider TEXT    NOT NULL DEFAULT '',
    last_model    TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX threads_by_principal ON threads (principal, updated_at);

-- run_id has no foreign key: a turn outlives the record of its run.
CREATE TABLE turns (
    thread_id       TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL,
    run_id          TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    question        TEXT    NOT NULL,
    question_tokens INTEGER NOT NULL,
    stamp           TEXT    NOT NULL,
    answers         TEXT    NOT NULL,
    asked_at        INTEGER,
    ended_at        INTEGER NOT NULL,
    tokens_through  INTEGER NOT NULL,
    PRIMARY KEY (thread_id, number)
) STRICT;

CREATE INDEX turns_by_tokens ON turns (thread_id, tokens_through);

CREATE TABLE runs (
    id               TEXT PRIMARY KEY,
    thread_id        TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    principal        TEXT    NOT NULL,
    project          TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    title            TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    mode             TEXT    NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    request          TEXT    NOT NULL,
    seats            TEXT    NOT NULL,
    owner            TEXT    NOT NULL,
    attempt          INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    progress         TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    heartbeat_at     INTEGER,
    ended_at         INTEGER,
    result           TEXT,
    error            TEXT
) STRICT;

CREATE UNIQUE INDEX runs_by_key ON runs (principal, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX runs_live ON runs (owner) WHERE state IN ('queued', 'running');
CREATE INDEX runs_by_principal ON runs (principal, created_at);
CREATE INDEX runs_by_thread ON runs (thread_id, created_at);
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE run_chunks (
    id      INTEGER PRIMARY KEY,
    run_id  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    text    TEXT    NOT NULL
) STRICT;

CREATE INDEX run_chunks_by_run ON run_chunks (run_id, attempt);

CREATE TABLE run_steps (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;

-- No foreign keys: what was spent stays spent when its thread is deleted.
CREATE TABLE costs (
    id                    INTEGER PRIMARY KEY,
    run_id                TEXT    NOT NULL,
    thread_id             TEXT    NOT NULL,
    tool                  TEXT    NOT NULL,
    provider              TEXT    NOT NULL,
    model                 TEXT    NOT NULL,
    attempt               INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    cached_input_tokens   INTEGER NOT NULL,
    cache_creation_tokens INTEGER NOT NULL,
    reasoning_tokens      INTEGER NOT NULL,
    cost_micros           INTEGER,
    outcome               TEXT    NOT NULL,
    at                    INTEGER NOT NULL
) STRICT;

CREATE INDEX costs_by_time ON costs (at);
CREATE INDEX costs_by_run ON costs (run_id);
