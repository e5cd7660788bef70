-- Work of several calls: scatters, recipes and their runs, and objectives that outlive a conversation.

-- Calls may be of no conversation (a shell's), and of a scatter. A table's constraints cannot be changed in place.
CREATE TABLE futures_of_5 (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT,
    operation TEXT NOT NULL,
    caller TEXT NOT NULL,
    run TEXT,
    state TEXT NOT NULL CHECK (state IN (
        'pending', 'running', 'completed', 'failed', 'blocked', 'conflict', 'partial', 'cancelled', 'superseded'
    )),
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at TEXT,
    -- The process that works on it.
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    boot TEXT NOT NULL,
    cancelling INTEGER NOT NULL DEFAULT 0 CHECK (cancelling IN (0, 1)),
    result TEXT CHECK (result IS NULL OR json_valid(result)), -- the answer
    -- Of a scatter: which, the place in it from 0, the input with its references, and what it waits for.
    batch TEXT,
    position INTEGER,
    input TEXT CHECK (input IS NULL OR json_valid(input)),
    needs TEXT CHECK (needs IS NULL OR json_valid(needs)), -- [{"future": id, "on": "success" | ...}]
    CHECK ((ended_at IS NULL) = (state IN ('pending', 'running'))),
    CHECK ((ended_at IS NULL) = (result IS NULL)),
    CHECK ((batch IS NULL) = (position IS NULL))
) STRICT;

INSERT INTO futures_of_5 (
    seq, id, conversation, operation, caller, run, state, created_at, started_at, ended_at,
    pid, pid_start, boot, cancelling, result
)
SELECT
    seq, id, conversation, operation, caller, run, state, created_at, started_at, ended_at,
    pid, pid_start, boot, cancelling, result
FROM futures;

DROP TABLE futures;
ALTER TABLE futures_of_5 RENAME TO futures;

CREATE INDEX futures_by_conversation ON futures (conversation, seq);
CREATE INDEX futures_unfinished ON futures (pid, cancelling) WHERE ended_at IS NULL;
CREATE INDEX futures_ended ON futures (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX futures_by_batch ON futures (batch, position) WHERE batch IS NOT NULL;

-- Scatters. Their state is that of their futures.
CREATE TABLE batches (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT,
    caller TEXT NOT NULL,
    run TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    total INTEGER NOT NULL,
    -- The call that made it waits for its futures and tells of them itself, so they do not arrive.
    collected INTEGER NOT NULL DEFAULT 0 CHECK (collected IN (0, 1))
) STRICT;

CREATE INDEX batches_by_conversation ON batches (conversation, seq);
CREATE INDEX batches_ended ON batches (ended_at) WHERE ended_at IS NOT NULL;

-- Objectives: what a conversation works towards, and what it left for the next one.
CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT, -- null: made at a shell
    shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    closed_at TEXT,
    body TEXT NOT NULL CHECK (json_valid(body)),
    CHECK ((closed_at IS NULL) = (state = 'open'))
) STRICT;

CREATE INDEX runs_by_update ON runs (updated_at, seq);
CREATE INDEX runs_by_conversation ON runs (conversation, updated_at, seq);

CREATE TABLE run_notes (
    seq INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    conversation TEXT,
    at TEXT NOT NULL,
    note TEXT NOT NULL
) STRICT;

CREATE INDEX run_notes_by_run ON run_notes (run, seq);

-- The run that a conversation's work belongs to where a call names none.
ALTER TABLE conversations ADD COLUMN current_run TEXT;

-- What a run is to be gone on with, and when.
CREATE TABLE continuations (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    conversation TEXT,
    state TEXT NOT NULL CHECK (state IN (
        'scheduled', 'due', 'blocked', 'executed', 'failed', 'acknowledged', 'cancelled'
    )),
    created_at TEXT NOT NULL,
    due_at TEXT NOT NULL,
    ended_at TEXT,
    target TEXT CHECK (target IS NULL OR json_valid(target)),
    prompt TEXT NOT NULL,
    result TEXT CHECK (result IS NULL OR json_valid(result)),
    CHECK ((ended_at IS NULL) = (state IN ('scheduled', 'due', 'blocked')))
) STRICT;

CREATE INDEX continuations_by_run ON continuations (run, seq);
CREATE INDEX continuations_open ON continuations (due_at) WHERE ended_at IS NULL;

-- Every version of every recipe; the newest is the recipe.
CREATE TABLE recipes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    conversation TEXT,
    shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)),
    created_at TEXT NOT NULL,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    sha256 TEXT NOT NULL, -- of the definition
    UNIQUE (name, version)
) STRICT;

CREATE TABLE recipe_runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL, -- its name
    version INTEGER, -- null: it was run from a file or a text
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    params TEXT NOT NULL CHECK (json_valid(params)), -- of a secret only that it was given
    options TEXT NOT NULL CHECK (json_valid(options)),
    conversation TEXT,
    caller TEXT NOT NULL,
    run TEXT,
    parent TEXT, -- the recipe run of which it is a step
    depth INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN (
        'running', 'completed', 'failed', 'blocked', 'conflict', 'partial', 'cancelled'
    )),
    created_at TEXT NOT NULL,
    ended_at TEXT,
    rolled_back_at TEXT,
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    boot TEXT NOT NULL,
    outputs TEXT CHECK (outputs IS NULL OR json_valid(outputs)),
    error TEXT CHECK (error IS NULL OR json_valid(error)),
    CHECK ((ended_at IS NULL) = (state = 'running'))
) STRICT;

CREATE INDEX recipe_runs_by_recipe ON recipe_runs (recipe, seq);
CREATE INDEX recipe_runs_by_run ON recipe_runs (run, seq) WHERE run IS NOT NULL;
CREATE INDEX recipe_runs_unfinished ON recipe_runs (pid) WHERE ended_at IS NULL;
CREATE INDEX recipe_runs_ended ON recipe_runs (ended_at) WHERE ended_at IS NOT NULL;

-- One row a step, or with `for_each` one an item; of several attempts the last.
CREATE TABLE recipe_steps (
    recipe_run TEXT NOT NULL REFERENCES recipe_runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- in the definition, from 0
    item INTEGER NOT NULL DEFAULT -1, -- of `for_each`, from 0
    name TEXT,
    operation TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN (
        'running', 'completed', 'failed', 'blocked', 'conflict', 'partial', 'cancelled', 'pending', 'superseded',
        'skipped'
    )),
    attempts INTEGER NOT NULL DEFAULT 1,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    duration_ms INTEGER,
    input TEXT CHECK (input IS NULL OR json_valid(input)), -- as resolved, without secrets
    result TEXT CHECK (result IS NULL OR json_valid(result)), -- the answer
    receipts TEXT CHECK (receipts IS NULL OR json_valid(receipts)), -- of the changes that it made, in order
    artifacts TEXT CHECK (artifacts IS NULL OR json_valid(artifacts)),
    PRIMARY KEY (recipe_run, position, item)
) STRICT, WITHOUT ROWID;
