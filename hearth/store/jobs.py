"""The rows of jobs: what is to be run, who runs it, and what became of it.

`hearth.engine.moves` decides which state may follow which; here is only the SQL.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class JobState(StrEnum):
    """Where a job stands. The last seven are final: none follows them."""

    SCHEDULED = "scheduled"  # not due yet
    QUEUED = "queued"  # as soon as there is room
    WAITING = "waiting"  # for jobs that it depends on
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"  # what it depends on did not end as it needs
    EXPIRED = "expired"  # it was not started in time
    LOST = "lost"  # nobody can tell how it ended


UNFINISHED = (JobState.SCHEDULED, JobState.QUEUED, JobState.WAITING, JobState.RUNNING)
FINAL = tuple(state for state in JobState if state not in UNFINISHED)


class Condition(StrEnum):
    """How a job must have ended for another one to start."""

    SUCCESS = "success"  # completed
    FAILURE = "failure"  # in any other way, but cancelled
    FINISHED = "finished"  # in any way

    def holds(self, ended: JobState) -> bool:
        if self is Condition.SUCCESS:
            return ended is JobState.COMPLETED
        return self is Condition.FINISHED or ended not in (JobState.COMPLETED, JobState.CANCELLED)


class Job(NamedTuple):
    """A row. Times are UTC texts, durations milliseconds, sizes bytes."""

    id: str
    state: JobState
    created_at: str
    due_at: str
    priority: int
    group_name: str
    title: str
    spec: str
    environment: int
    caller: str
    unmet: int
    merged: bool
    seq: int = 0
    expires_at: str | None = None
    run: str | None = None
    conversation: str | None = None
    idempotency_key: str | None = None
    digest: str | None = None
    schedule: str | None = None
    slot_at: str | None = None
    retry_of: str | None = None
    retried_by: str | None = None
    attempt: int = 0
    restarts: int = 0
    worker: str | None = None
    pid: int | None = None
    pid_start: str | None = None
    boot: str | None = None
    mark: str | None = None
    ending: str | None = None
    grace_ms: int | None = None
    queued_at: str | None = None
    started_at: str | None = None
    started_ms: int | None = None
    ended_at: str | None = None
    waited_ms: int | None = None
    ran_ms: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    cpu_ms: int | None = None
    peak_memory_bytes: int | None = None
    stdout_bytes: int | None = None
    stderr_bytes: int | None = None
    stdout_artifact: str | None = None
    stderr_artifact: str | None = None
    output_order: str | None = None
    in_files: bool = False


class Dependency(NamedTuple):
    """One job that another waits for."""

    on_id: str
    condition: Condition
    met: bool


_COLUMNS = tuple(name for name in Job._fields if name != "seq")
_INSERT = f"INSERT INTO jobs ({', '.join(_COLUMNS)}) VALUES ({', '.join(':' + name for name in _COLUMNS)})"
_INSERT_LABEL = "INSERT OR IGNORE INTO job_labels (label, job) VALUES (:label, :job)"
_INSERT_DEPENDENCY = """
    INSERT INTO job_dependencies (job, position, on_id, condition, met)
    VALUES (:job, :position, :on_id, :condition, :met)
"""
_INSERT_ENVIRONMENT = "INSERT OR IGNORE INTO environments (sha256, variables) VALUES (:sha256, :variables)"
_ENVIRONMENT = "SELECT seq FROM environments WHERE sha256 = :sha256"
_VARIABLES = "SELECT variables FROM environments WHERE seq = :seq"
_GET = "SELECT * FROM jobs WHERE id = :id"
_GET_BY_SEQ = "SELECT * FROM jobs WHERE seq = :seq"
_GET_BY_KEY = "SELECT * FROM jobs WHERE coalesce(conversation, '') = :conversation AND idempotency_key = :key"
_STANDING = "SELECT state, started_at FROM jobs WHERE id = :id"
_STARTING = "SELECT * FROM jobs WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id LIMIT 2"
_LABELS = "SELECT label FROM job_labels WHERE job = :job ORDER BY label"
_DEPENDENCIES = "SELECT on_id, condition, met FROM job_dependencies WHERE job = :job ORDER BY position"


def environment(tx: sqlite3.Connection, variables: Mapping[str, str]) -> int:
    """The row that holds these variables, made if there is none."""
    import hashlib

    text = json.dumps(dict(variables), sort_keys=True)
    key = hashlib.sha256(text.encode("ascii")).hexdigest()
    found = tx.execute(_ENVIRONMENT, {"sha256": key}).fetchone()
    if found is None:
        tx.execute(_INSERT_ENVIRONMENT, {"sha256": key, "variables": text})
        found = tx.execute(_ENVIRONMENT, {"sha256": key}).fetchone()
    return int(found[0])


def variables(view: sqlite3.Connection, environment: int) -> str:
    """A JSON object of texts."""
    return str(view.execute(_VARIABLES, {"seq": environment}).fetchone()[0])


def insert(
    tx: sqlite3.Connection, job: Job, *, labels: Iterable[str] = (), dependencies: Iterable[Dependency] = ()
) -> int:
    """Store a new job; its sequence number."""
    done = tx.execute(_INSERT, job._asdict())
    seq = done.lastrowid
    assert seq is not None
    for label in labels:
        tx.execute(_INSERT_LABEL, {"label": label, "job": seq})
    for position, each in enumerate(dependencies):
        tx.execute(_INSERT_DEPENDENCY, {"job": seq, "position": position, **each._asdict()})
    return seq


def find(view: sqlite3.Connection, id_: str) -> Job | None:
    row = view.execute(_GET, {"id": id_}).fetchone()
    return job_of(row) if row else None


class Standing(NamedTuple):
    """What who waits for a job wants to know."""

    state: JobState
    started_at: str | None


def standing(view: sqlite3.Connection, id_: str) -> Standing | None:
    row = view.execute(_STANDING, {"id": id_}).fetchone()
    return Standing(JobState(row["state"]), row["started_at"]) if row else None


def find_by_seq(view: sqlite3.Connection, seq: int) -> Job | None:
    row = view.execute(_GET_BY_SEQ, {"seq": seq}).fetchone()
    return job_of(row) if row else None


def find_by_key(view: sqlite3.Connection, conversation: str | None, key: str) -> Job | None:
    """The job that was submitted with that idempotency key in that conversation."""
    row = view.execute(_GET_BY_KEY, {"conversation": conversation or "", "key": key}).fetchone()
    return job_of(row) if row else None


def starting_with(view: sqlite3.Connection, prefix: str) -> list[Job]:
    """Those whose id starts so, at most two."""
    return [job_of(row) for row in view.execute(_STARTING, {"prefix": prefix})]


def labels(view: sqlite3.Connection, seq: int) -> tuple[str, ...]:
    return tuple(row[0] for row in view.execute(_LABELS, {"job": seq}))


def dependencies(view: sqlite3.Connection, seq: int) -> tuple[Dependency, ...]:
    rows = view.execute(_DEPENDENCIES, {"job": seq})
    return tuple(Dependency(row["on_id"], Condition(row["condition"]), bool(row["met"])) for row in rows)


def job_of(row: sqlite3.Row) -> Job:
    values = dict(zip(row.keys(), row, strict=True))
    values["state"] = JobState(values["state"])
    values["merged"] = bool(values["merged"])
    values["in_files"] = bool(values["in_files"])
    return Job(**values)


# One statement for every move: what a state may not have is null, what does not change is kept. So is the mark, by
# which the outputs of the newest run are found.

_MOVE = """
    UPDATE jobs SET
        state = :to, worker = :worker, pid = NULL, pid_start = NULL, boot = NULL, mark = coalesce(:mark, mark),
        ending = NULL, grace_ms = NULL, unmet = coalesce(:unmet, unmet), due_at = coalesce(:due_at, due_at),
        attempt = coalesce(:attempt, attempt),
        restarts = coalesce(:restarts, restarts), queued_at = coalesce(:queued_at, queued_at),
        started_at = coalesce(:started_at, started_at), ended_at = :ended_at,
        waited_ms = coalesce(:waited_ms, waited_ms), ran_ms = :ran_ms, exit_code = :exit_code, signal = :signal,
        reason = :reason, message = :message, cpu_ms = :cpu_ms, peak_memory_bytes = :peak_memory_bytes,
        stdout_bytes = :stdout_bytes, stderr_bytes = :stderr_bytes, stdout_artifact = :stdout_artifact,
        stderr_artifact = :stderr_artifact, output_order = :output_order, in_files = coalesce(:in_files, 0)
    WHERE seq = :seq AND state = :was AND (:holder IS NULL OR worker = :holder)
"""
_CHANGES = (
    "worker", "mark", "unmet", "due_at", "attempt", "restarts", "queued_at", "started_at", "ended_at", "waited_ms",
    "ran_ms", "exit_code", "signal", "reason", "message", "cpu_ms", "peak_memory_bytes", "stdout_bytes",
    "stderr_bytes", "stdout_artifact", "stderr_artifact", "output_order", "in_files",
)  # fmt: skip
_NOTHING: dict[str, Any] = dict.fromkeys(_CHANGES)


def move(
    tx: sqlite3.Connection, seq: int, was: JobState, to: JobState, *, holder: str | None = None, **changes: Any
) -> bool:
    """Change a job's state; false when it is no longer in `was`, or no longer `holder`'s."""
    assert changes.keys() <= _NOTHING.keys(), changes
    values = {**_NOTHING, **changes, "seq": seq, "was": was, "to": to, "holder": holder}
    return tx.execute(_MOVE, values).rowcount == 1


@contextlib.contextmanager
def alone(tx: sqlite3.Connection) -> Iterator[None]:
    """What is done about one job: when that raises, none of it has happened, and the transaction goes on."""
    tx.execute("SAVEPOINT job")
    try:
        yield
    except BaseException:
        if tx.in_transaction:  # some errors, such as a full disk, have rolled all of it back
            tx.execute("ROLLBACK TO job")
            tx.execute("RELEASE job")
        raise
    tx.execute("RELEASE job")


# What a worker asks in every pass names its index. SQLite would take a wider one, such as that of all states, and read
# all that is queued, or all that a group ever had.

_ROOM = """
    WITH RECURSIVE names (name) AS (
        SELECT min(group_name) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued'
        UNION ALL
        SELECT (
            SELECT min(group_name) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued' AND group_name > names.name
        )
        FROM names WHERE names.name IS NOT NULL
    )
    SELECT names.name AS name, job_groups.parallel AS parallel,
        (
            SELECT count(*) FROM jobs INDEXED BY jobs_running_in_group
            WHERE state = 'running' AND group_name = names.name
        ) AS running
    FROM names LEFT JOIN job_groups ON job_groups.name = names.name
    WHERE names.name IS NOT NULL AND coalesce(job_groups.paused, 0) = 0
"""
_HEADS = """
    SELECT * FROM jobs INDEXED BY jobs_queue
    WHERE state = 'queued' AND group_name = :name ORDER BY priority DESC, seq LIMIT :most
"""


def next_to_run(view: sqlite3.Connection, *, parallel: int, most: int) -> list[Job]:
    """The queued jobs that may start now, at most `most`, the most urgent first. `parallel` is the limit of groups
    that have none of their own."""
    found: list[Job] = []
    for name, limit, running in view.execute(_ROOM).fetchall():
        room = min(most, (parallel if limit is None else limit) - running)
        if room > 0:
            found += map(job_of, view.execute(_HEADS, {"name": name, "most": room}))
    return sorted(found, key=lambda job: (-job.priority, job.seq))[:most]


_HOLD = """
    UPDATE jobs SET pid = :pid, pid_start = :pid_start, boot = :boot, started_at = :started_at,
        started_ms = :started_ms
    WHERE seq = :seq AND state = 'running' AND worker = :holder AND mark = :mark AND ending IS NULL
"""
_END_IT = """
    UPDATE jobs SET ending = :ending
    WHERE seq = :seq AND state = 'running' AND ending IS NULL AND (:holder IS NULL OR worker = :holder)
"""
_GRACE = "UPDATE jobs SET grace_ms = :grace_ms WHERE seq = :seq AND state = 'running'"
_TO_END = """
    SELECT seq, ending, grace_ms FROM jobs INDEXED BY jobs_running
    WHERE state = 'running' AND worker = :worker AND ending IS NOT NULL
"""
_ENDING = "SELECT ending FROM jobs WHERE seq = :seq AND state = 'running'"
_TAKE_OVER = """
    UPDATE jobs INDEXED BY jobs_running SET worker = :worker WHERE state = 'running' AND worker = :former
"""
_HELD_BY = "SELECT * FROM jobs INDEXED BY jobs_running WHERE state = 'running' AND worker = :worker ORDER BY seq"
_HOLDERS = """
    WITH RECURSIVE holders (id) AS (
        SELECT min(worker) FROM jobs INDEXED BY jobs_running WHERE state = 'running'
        UNION ALL
        SELECT (
            SELECT min(worker) FROM jobs INDEXED BY jobs_running WHERE state = 'running' AND worker > holders.id
        )
        FROM holders WHERE holders.id IS NOT NULL
    )
    SELECT id FROM holders WHERE id IS NOT NULL
"""


class Held(NamedTuple):
    """Which process a claimed job is: told by pid, start and boot. `started_ms` is of the clock that only grows."""

    pid: int
    pid_start: str
    boot: str
    started_at: str
    started_ms: int


def hold(tx: sqlite3.Connection, seq: int, holder: str, mark: str, held: Held) -> bool:
    """Note the process of a claimed job before that may start; false when it is no longer `holder`'s to start."""
    return tx.execute(_HOLD, {"seq": seq, "holder": holder, "mark": mark, **held._asdict()}).rowcount == 1


def want_end(
    tx: sqlite3.Connection, seq: int, ending: str, *, grace_ms: int | None = None, holder: str | None = None
) -> bool:
    """Ask for the end of a running job; false when it does not run, is being ended already, or is no longer
    `holder`'s. It has `grace_ms` for that in place of its own, also when it is being ended already."""
    if grace_ms is not None:
        tx.execute(_GRACE, {"seq": seq, "grace_ms": grace_ms})
    return tx.execute(_END_IT, {"seq": seq, "ending": ending, "holder": holder}).rowcount == 1


class ToEnd(NamedTuple):
    """Why a job is to be ended, and within which time where that is not its own."""

    ending: str
    grace_ms: int | None


def to_end(view: sqlite3.Connection, worker: str) -> dict[int, ToEnd]:
    """Which of a worker's jobs are to be ended."""
    return {row["seq"]: ToEnd(row["ending"], row["grace_ms"]) for row in view.execute(_TO_END, {"worker": worker})}


def ending_of(view: sqlite3.Connection, seq: int) -> str | None:
    """Why a job that runs is to be ended; None where it is not."""
    row = view.execute(_ENDING, {"seq": seq}).fetchone()
    return None if row is None else row[0]


def take_over(tx: sqlite3.Connection, former: str, worker: str) -> int:
    """Give a worker's running jobs to another one; how many."""
    return tx.execute(_TAKE_OVER, {"former": former, "worker": worker}).rowcount


def held_by(view: sqlite3.Connection, worker: str) -> list[Job]:
    return [job_of(row) for row in view.execute(_HELD_BY, {"worker": worker})]


def holders(view: sqlite3.Connection) -> list[str]:
    """The workers that running jobs name."""
    return [row[0] for row in view.execute(_HOLDERS)]


_MEET = """
    UPDATE job_dependencies SET met = 1 WHERE job = :job AND position = :position AND met = 0
"""
_WAITING_FOR = """
    SELECT d.job AS job, d.position AS position, d.condition AS condition
    FROM job_dependencies AS d WHERE d.on_id = :id AND d.met = 0 ORDER BY d.job, d.position
"""


class Waiting(NamedTuple):
    """A dependency on a job that has ended just now."""

    job: int
    position: int
    condition: Condition


def waiting_for(view: sqlite3.Connection, id_: str) -> list[Waiting]:
    rows = view.execute(_WAITING_FOR, {"id": id_})
    return [Waiting(row["job"], row["position"], Condition(row["condition"])) for row in rows]


def meet(tx: sqlite3.Connection, waiting: Waiting) -> None:
    tx.execute(_MEET, {"job": waiting.job, "position": waiting.position})


_NOT_YET_DUE = "UPDATE jobs SET unmet = :unmet WHERE seq = :seq AND state = 'waiting'"
_FALL_DUE = """
    UPDATE jobs INDEXED BY jobs_due SET state = 'queued', queued_at = due_at
    WHERE state = 'scheduled' AND due_at <= :now
"""
_EXPIRED = """
    SELECT * FROM jobs INDEXED BY jobs_expiring
    WHERE expires_at IS NOT NULL AND state IN ('scheduled', 'queued', 'waiting')
    AND expires_at <= :now ORDER BY expires_at LIMIT :most
"""
_NEXT_DUE = """
    SELECT
        (SELECT min(due_at) FROM jobs INDEXED BY jobs_due WHERE state = 'scheduled'),
        (
            SELECT min(expires_at) FROM jobs INDEXED BY jobs_expiring
            WHERE expires_at IS NOT NULL AND state IN ('scheduled', 'queued', 'waiting')
        ),
        (SELECT min(next_at) FROM schedules WHERE enabled = 1 AND next_at IS NOT NULL)
"""
_IS_IDLE = """
    WITH RECURSIVE names (name) AS (
        SELECT min(group_name) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued'
        UNION ALL
        SELECT (
            SELECT min(group_name) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued' AND group_name > names.name
        )
        FROM names WHERE names.name IS NOT NULL
    )
    SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'running')
    AND NOT EXISTS (
        SELECT 1 FROM names LEFT JOIN job_groups ON job_groups.name = names.name
        WHERE names.name IS NOT NULL AND coalesce(job_groups.paused, 0) = 0
    )
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'scheduled')
    AND NOT EXISTS (SELECT 1 FROM schedules WHERE enabled = 1 AND next_at IS NOT NULL)
"""


def still_waiting(tx: sqlite3.Connection, seq: int, unmet: int) -> None:
    tx.execute(_NOT_YET_DUE, {"seq": seq, "unmet": unmet})


def fall_due(tx: sqlite3.Connection, now: str) -> int:
    """Queue the scheduled jobs whose time has come; how many."""
    return tx.execute(_FALL_DUE, {"now": now}).rowcount


def expired(view: sqlite3.Connection, now: str, most: int) -> list[Job]:
    """Jobs that were not started in time."""
    return [job_of(row) for row in view.execute(_EXPIRED, {"now": now, "most": most})]


def next_due(view: sqlite3.Connection) -> str | None:
    """When the next job falls due or expires, or a schedule's next slot comes."""
    return min((time for time in view.execute(_NEXT_DUE).fetchone() if time is not None), default=None)


def is_idle(view: sqlite3.Connection) -> bool:
    """Whether there is nothing that a worker would have to do without being asked again; who resumes a group asks."""
    return bool(view.execute(_IS_IDLE).fetchone()[0])


_KEEP_ATTEMPT = """
    INSERT OR REPLACE INTO job_attempts
        (job, attempt, started_at, ended_at, state, exit_code, signal, reason, stdout_bytes, stderr_bytes,
        stdout_artifact, stderr_artifact, output_order)
    VALUES (:job, :attempt, :started_at, :ended_at, :state, :exit_code, :signal, :reason, :stdout_bytes,
        :stderr_bytes, :stdout_artifact, :stderr_artifact, :output_order)
"""
_ATTEMPTS = "SELECT * FROM job_attempts WHERE job = :job ORDER BY attempt"
_IN_FILES = "SELECT * FROM jobs WHERE in_files = 1 AND seq > :after ORDER BY seq LIMIT :most"
_KEPT = """
    UPDATE jobs SET in_files = 0, stdout_artifact = :stdout_artifact, stderr_artifact = :stderr_artifact
    WHERE seq = :seq AND in_files = 1
"""
_RETRIED = "UPDATE jobs SET retried_by = :by WHERE id = :id"


class Attempt(NamedTuple):
    """A run of a job before its newest one."""

    attempt: int
    started_at: str | None
    ended_at: str
    state: JobState
    exit_code: int | None
    signal: int | None
    reason: str | None
    stdout_bytes: int | None
    stderr_bytes: int | None
    stdout_artifact: str | None
    stderr_artifact: str | None
    output_order: str | None


def keep_attempt(tx: sqlite3.Connection, job: int, attempt: Attempt) -> None:
    tx.execute(_KEEP_ATTEMPT, {"job": job, **attempt._asdict()})


def attempts(view: sqlite3.Connection, job: int) -> Iterator[Attempt]:
    """The runs before the newest one, the first one first."""
    for row in view.execute(_ATTEMPTS, {"job": job}):
        values = {name: row[name] for name in Attempt._fields}
        yield Attempt(**{**values, "state": JobState(values["state"])})


def in_files(view: sqlite3.Connection, *, after: int = 0, most: int) -> list[Job]:
    """Jobs that ended, but whose outputs could not become artifacts yet."""
    return [job_of(row) for row in view.execute(_IN_FILES, {"after": after, "most": most})]


def outputs_kept(tx: sqlite3.Connection, seq: int, stdout: str | None, stderr: str | None) -> bool:
    """The outputs of an ended job are artifacts now."""
    return tx.execute(_KEPT, {"seq": seq, "stdout_artifact": stdout, "stderr_artifact": stderr}).rowcount == 1


def retried(tx: sqlite3.Connection, id_: str, by: str) -> None:
    tx.execute(_RETRIED, {"id": id_, "by": by})


_GROUPS = """
    WITH RECURSIVE names (name) AS (
        SELECT min(group_name) FROM jobs WHERE group_name > :after
        UNION ALL
        SELECT (SELECT min(group_name) FROM jobs WHERE group_name > names.name)
        FROM names WHERE names.name IS NOT NULL LIMIT :most
    )
    SELECT name, job_groups.parallel AS parallel, coalesce(job_groups.paused, 0) AS paused,
        (SELECT count(*) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued' AND group_name = all_names.name)
            AS queued,
        (
            SELECT count(*) FROM jobs INDEXED BY jobs_running_in_group
            WHERE state = 'running' AND group_name = all_names.name
        ) AS running
    FROM (SELECT name FROM names WHERE name IS NOT NULL UNION SELECT name FROM job_groups WHERE name > :after)
        AS all_names LEFT JOIN job_groups USING (name) ORDER BY name LIMIT :most
"""
_GROUP = """
    SELECT :name AS name, job_groups.parallel AS parallel, coalesce(job_groups.paused, 0) AS paused,
        (SELECT count(*) FROM jobs INDEXED BY jobs_queue WHERE state = 'queued' AND group_name = :name)
            AS queued,
        (SELECT count(*) FROM jobs INDEXED BY jobs_running_in_group WHERE state = 'running' AND group_name = :name)
            AS running
    FROM (SELECT 1) LEFT JOIN job_groups ON job_groups.name = :name
"""
_SET_GROUP = """
    INSERT INTO job_groups (name, parallel, paused)
    VALUES (:name, :parallel, coalesce(:paused, 0))
    ON CONFLICT (name) DO UPDATE SET
        parallel = CASE WHEN :keep_parallel THEN parallel ELSE excluded.parallel END,
        paused = coalesce(:paused, paused)
"""
_FORGET_GROUP = "DELETE FROM job_groups WHERE name = :name AND parallel IS NULL AND paused = 0"


class Group(NamedTuple):
    """A group of jobs: how many of them may run at once (None: as the setting says), and whether none is started."""

    name: str
    parallel: int | None
    paused: bool
    queued: int
    running: int


def groups(view: sqlite3.Connection, *, after: str = "", most: int) -> list[Group]:
    """Those that have jobs, or a limit of their own, or are paused, by name from behind `after`."""
    return [_group(row) for row in view.execute(_GROUPS, {"after": after, "most": most})]


def group(view: sqlite3.Connection, name: str) -> Group:
    """One of them; any name is a group that has no jobs yet."""
    return _group(view.execute(_GROUP, {"name": name}).fetchone())


def paused(view: sqlite3.Connection) -> set[str]:
    """The names of the groups of which nothing is started."""
    return {row[0] for row in view.execute("SELECT name FROM job_groups WHERE paused = 1")}


def _group(row: sqlite3.Row) -> Group:
    return Group(row[0], row[1], bool(row[2]), row[3], row[4])


def set_group(
    tx: sqlite3.Connection,
    name: str,
    *,
    parallel: int | None = None,
    keep_parallel: bool = True,
    paused: bool | None = None,
) -> None:
    """Change a group's limit, unless that is kept, and whether it is paused, unless that is None."""
    tx.execute(_SET_GROUP, {"name": name, "parallel": parallel, "keep_parallel": keep_parallel, "paused": paused})
    tx.execute(_FORGET_GROUP, {"name": name})  # what is as usual needs no row
