"""What workers ask about jobs and note in them: which start next, who holds them, and when something is due."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from hearth.store.jobs import Job, job_of

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
