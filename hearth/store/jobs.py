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


def still_waiting(tx: sqlite3.Connection, seq: int, unmet: int) -> None:
    tx.execute(_NOT_YET_DUE, {"seq": seq, "unmet": unmet})


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
