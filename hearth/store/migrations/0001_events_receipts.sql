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
