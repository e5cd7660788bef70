-- The schema of hearth 0.1. Never edited once released: a change is a new numbered file.

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    operation TEXT NOT NULL,
    entity TEXT, -- the receipt or the path that the call was about
    caller TEXT NOT NULL,
    run TEXT,
    conversation TEXT,
    state TEXT NOT NULL
        CHECK (state IN ('completed', 'failed', 'pending', 'blocked', 'conflict', 'partial', 'cancelled', 'superseded')),
    error TEXT,
    duration_ms INTEGER NOT NULL,
    data TEXT NOT NULL CHECK (json_valid(data)) -- the input: short scalars, the rest as length and sha256
) STRICT;

CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_entity ON events (entity, id) WHERE entity IS NOT NULL;

-- One call that changed files. Its changes are one set: all of them happened, or none.
CREATE TABLE receipts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    operation TEXT NOT NULL,
    caller TEXT NOT NULL,
    conversation TEXT,
    group_name TEXT,
    state TEXT NOT NULL CHECK (state IN ('intended', 'applied', 'void')),
    owner_pid INTEGER NOT NULL,
    owner_start TEXT NOT NULL,
    steps INTEGER NOT NULL,
    undoes TEXT,
    undone_by TEXT,
    backup_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX receipts_open ON receipts (seq) WHERE state = 'intended';
CREATE INDEX receipts_by_time ON receipts (at);
CREATE INDEX receipts_by_group ON receipts (group_name, seq) WHERE group_name IS NOT NULL;
CREATE INDEX receipts_undone ON receipts (undone_by) WHERE undone_by IS NOT NULL;
CREATE INDEX receipts_with_backup ON receipts (seq, backup_bytes) WHERE backup_bytes > 0;

CREATE TABLE changes (
    receipt INTEGER NOT NULL REFERENCES receipts (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL
        CHECK (kind IN ('write', 'append', 'cut', 'move', 'copy', 'mkdir', 'rmdir', 'mode', 'remove')),
    path TEXT NOT NULL,
    other TEXT,
    before_sha256 TEXT,
    before_size INTEGER,
    before_mode INTEGER,
    after_sha256 TEXT,
    after_size INTEGER,
    after_mode INTEGER,
    identity TEXT,
    in_place INTEGER NOT NULL CHECK (in_place IN (0, 1)),
    implied INTEGER NOT NULL CHECK (implied IN (0, 1)),
    body TEXT,
    backup BLOB,
    PRIMARY KEY (receipt, position)
) STRICT;

CREATE INDEX changes_by_path ON changes (path, receipt);
CREATE INDEX changes_by_other ON changes (other, receipt) WHERE other IS NOT NULL;
CREATE INDEX changes_by_body ON changes (body) WHERE body IS NOT NULL;
