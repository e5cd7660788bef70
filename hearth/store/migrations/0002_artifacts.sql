-- What is kept beside files: output of programs, large answers, what people put. The body is a content-addressed file,
-- on the disk before its row.
CREATE TABLE artifacts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    body TEXT NOT NULL, -- the sha256 that names it; equal ones are shared
    size INTEGER NOT NULL CHECK (size >= 0),
    media_type TEXT NOT NULL,
    encoding TEXT, -- where its maker knows how the text is stored
    label TEXT, -- what people know it by: "stdout", a file name
    operation TEXT NOT NULL, -- what made it
    caller TEXT NOT NULL,
    run TEXT,
    conversation TEXT,
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)) -- kept whatever retention says
) STRICT;

CREATE INDEX artifacts_by_body ON artifacts (body);
CREATE INDEX artifacts_by_operation ON artifacts (operation, seq);
CREATE INDEX artifacts_by_run ON artifacts (run, seq) WHERE run IS NOT NULL;
CREATE INDEX artifacts_by_label ON artifacts (label, seq) WHERE label IS NOT NULL;
CREATE INDEX artifacts_to_expire ON artifacts (at, size) WHERE pinned = 0;
