-- The schema of hearth 0.1. Never edited once released: a change is a new numbered file.

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    operation TEXT NOT NULL,
    entity TEXT,
    caller TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('completed', 'failed', 'pending', 'blocked', 'conflict', 'partial', 'cancelled', 'superseded')),
    error TEXT,
    duration_ms INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_entity ON events (entity, id) WHERE entity IS NOT NULL;
