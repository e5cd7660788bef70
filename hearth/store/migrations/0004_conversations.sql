-- What calls of one conversation leave for later ones: work that goes on, what became of it, and answers to retries.

-- Who calls, by fingerprint: the kind, a colon, and the SHA-256 of what named it. What named it is never stored.
CREATE TABLE conversations (
    key TEXT NOT NULL PRIMARY KEY,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    next_seq INTEGER NOT NULL DEFAULT 1, -- of its arrivals
    acked INTEGER NOT NULL DEFAULT 0 CHECK (acked < next_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_time ON conversations (last_at);

-- Calls that were answered before they had ended.
CREATE TABLE futures (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
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
    CHECK ((ended_at IS NULL) = (state IN ('pending', 'running'))),
    CHECK ((ended_at IS NULL) = (result IS NULL))
) STRICT;

CREATE INDEX futures_by_conversation ON futures (conversation, seq);
CREATE INDEX futures_unfinished ON futures (pid, cancelling) WHERE ended_at IS NULL;
CREATE INDEX futures_ended ON futures (ended_at) WHERE ended_at IS NOT NULL;

-- What is to be told to a conversation, in the order in which it ended, without gaps.
CREATE TABLE arrivals (
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('job', 'future')),
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    summary TEXT NOT NULL CHECK (json_valid(summary)),
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX arrivals_by_time ON arrivals (at);

-- Calls that change something and that their client may send once more.
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    key TEXT NOT NULL, -- the SHA-256 of what the client called it
    digest TEXT NOT NULL,
    at TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    boot TEXT NOT NULL,
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)), -- null while it runs
    UNIQUE (conversation, key)
) STRICT;

CREATE INDEX requests_by_time ON requests (at);
CREATE INDEX requests_of ON requests (conversation, seq);
