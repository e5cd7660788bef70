-- Jobs: programs that run in the background, whoever asked for them and whichever process looks after them.

-- What programs inherit from the process that submitted them, without secrets; equal ones are shared.
CREATE TABLE environments (
    seq INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    variables TEXT NOT NULL CHECK (json_valid(variables))
) STRICT;

CREATE TABLE job_groups (
    name TEXT NOT NULL PRIMARY KEY,
    parallel INTEGER CHECK (parallel BETWEEN 1 AND 10000), -- null: worker.parallel
    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX job_groups_paused ON job_groups (name) WHERE paused = 1;

CREATE TABLE schedules (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    cron TEXT,
    every_ms INTEGER,
    zone TEXT NOT NULL, -- the IANA name
    missed TEXT NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
    missed_most INTEGER NOT NULL,
    overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue')),
    job TEXT NOT NULL CHECK (json_valid(job)), -- columns of the jobs that it makes
    environment INTEGER NOT NULL REFERENCES environments (seq),
    conversation TEXT,
    labels TEXT NOT NULL CHECK (json_valid(labels)),
    anchor_at TEXT NOT NULL, -- from which intervals are counted
    next_at TEXT, -- the slot that it waits for; null: none
    last_at TEXT, -- the newest slot for which a job was made
    made INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    problem TEXT, -- why it makes no jobs any more
    CHECK ((cron IS NULL) <> (every_ms IS NULL))
) STRICT;

CREATE INDEX schedules_due ON schedules (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;
CREATE INDEX schedules_by_environment ON schedules (environment);

CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('scheduled', 'queued', 'waiting', 'running', 'completed', 'failed',
        'timed_out', 'cancelled', 'blocked', 'expired', 'lost')),
    created_at TEXT NOT NULL,
    due_at TEXT NOT NULL, -- not started before
    expires_at TEXT, -- not started from then on
    priority INTEGER NOT NULL,
    group_name TEXT NOT NULL,
    title TEXT NOT NULL, -- the command's words, secrets taken out
    spec TEXT NOT NULL CHECK (json_valid(spec)),
    environment INTEGER NOT NULL REFERENCES environments (seq),
    caller TEXT NOT NULL,
    run TEXT,
    conversation TEXT,
    idempotency_key TEXT,
    digest TEXT, -- of what was asked for with that key
    schedule TEXT, -- the id of the schedule that made it
    slot_at TEXT, -- the time for which that made it
    retry_of TEXT,
    retried_by TEXT,
    unmet INTEGER NOT NULL CHECK (unmet >= 0), -- dependencies that have not ended
    attempt INTEGER NOT NULL DEFAULT 0, -- how many times it was started, or is about to be
    restarts INTEGER NOT NULL DEFAULT 0, -- how many of these because the one before was interrupted
    -- Who looks after it, and which process it is: null until that is held back and about to start.
    worker TEXT,
    pid INTEGER,
    pid_start TEXT,
    boot TEXT,
    mark TEXT,
    ending TEXT CHECK (ending IN ('cancel', 'timeout', 'output')), -- why it is being ended
    grace_ms INTEGER CHECK (grace_ms >= 0), -- how long it has for that, where who asked said so
    -- What became of it.
    queued_at TEXT, -- since when it could have been started
    started_at TEXT,
    started_ms INTEGER, -- the same by the clock of this start of the machine that only grows
    ended_at TEXT,
    waited_ms INTEGER,
    ran_ms INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    reason TEXT, -- a code where the state alone does not tell
    message TEXT,
    cpu_ms INTEGER,
    peak_memory_bytes INTEGER,
    stdout_bytes INTEGER,
    stderr_bytes INTEGER,
    stdout_artifact TEXT,
    stderr_artifact TEXT,
    output_order TEXT, -- how much of both there was at one time after the other, as a worker saw it
    merged INTEGER NOT NULL CHECK (merged IN (0, 1)), -- both outputs are one, kept as stdout
    in_files INTEGER NOT NULL DEFAULT 0 CHECK (in_files IN (0, 1)), -- it ended, its outputs are no artifacts yet
    CHECK (state = 'running' OR (worker IS NULL AND pid IS NULL)),
    CHECK (state <> 'running' OR worker IS NOT NULL),
    CHECK ((ended_at IS NULL) = (state IN ('scheduled', 'queued', 'waiting', 'running'))),
    CHECK (state <> 'waiting' OR unmet > 0)
) STRICT;

CREATE INDEX jobs_queue ON jobs (group_name, priority DESC, seq) WHERE state = 'queued';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state = 'scheduled';
CREATE INDEX jobs_running ON jobs (worker, group_name, ending) WHERE state = 'running';
CREATE INDEX jobs_running_in_group ON jobs (group_name) WHERE state = 'running';
CREATE INDEX jobs_expiring ON jobs (expires_at)
    WHERE expires_at IS NOT NULL AND state IN ('scheduled', 'queued', 'waiting');
CREATE INDEX jobs_by_state ON jobs (state, seq);
CREATE INDEX jobs_by_group ON jobs (group_name, seq);
CREATE INDEX jobs_by_time ON jobs (created_at, seq);
CREATE INDEX jobs_by_schedule ON jobs (schedule, seq) WHERE schedule IS NOT NULL;
CREATE INDEX jobs_by_conversation ON jobs (conversation, seq) WHERE conversation IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_in_files ON jobs (seq) WHERE in_files = 1;
CREATE INDEX jobs_by_environment ON jobs (environment);
CREATE UNIQUE INDEX jobs_by_key ON jobs (coalesce(conversation, ''), idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_slot ON jobs (schedule, slot_at) WHERE schedule IS NOT NULL;
CREATE INDEX jobs_unfinished_of_schedule ON jobs (schedule, seq) WHERE schedule IS NOT NULL AND ended_at IS NULL;

CREATE TABLE job_labels (
    label TEXT NOT NULL,
    job INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
    PRIMARY KEY (label, job)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_labels_of ON job_labels (job);

-- What a job waits for. The other one is named by its id, since it may not exist yet.
CREATE TABLE job_dependencies (
    job INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    on_id TEXT NOT NULL,
    condition TEXT NOT NULL CHECK (condition IN ('success', 'failure', 'finished')),
    met INTEGER NOT NULL CHECK (met IN (0, 1)),
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_dependents ON job_dependencies (on_id, job) WHERE met = 0;

-- Runs of a job before its newest one.
CREATE TABLE job_attempts (
    job INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    started_at TEXT,
    ended_at TEXT NOT NULL,
    state TEXT NOT NULL,
    exit_code INTEGER,
    signal INTEGER,
    reason TEXT,
    stdout_bytes INTEGER,
    stderr_bytes INTEGER,
    stdout_artifact TEXT,
    stderr_artifact TEXT,
    output_order TEXT,
    PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;

-- Processes that look after jobs. A row is nobody's once that process is gone, or its heart stood still for long.
CREATE TABLE workers (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('foreground', 'background', 'server')),
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    boot TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at TEXT NOT NULL,
    beat_ms INTEGER NOT NULL -- by the clock of this start of the machine that only grows
) STRICT, WITHOUT ROWID;
