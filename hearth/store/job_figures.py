"""How many jobs there are, how long they waited and ran, and how they ended."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from hearth.store.jobs import JobState

_UNFINISHED = """
    SELECT group_name, state, count(*), min(queued_at) FROM jobs
    WHERE state IN ('scheduled', 'queued', 'waiting', 'running') GROUP BY group_name, state
"""
_ENDED = """
    SELECT group_name, state, reason, waited_ms, ran_ms, ended_at FROM jobs
    WHERE ended_at IS NOT NULL AND ended_at >= :since ORDER BY ended_at DESC LIMIT :most
"""
_RUNNING_BY_WORKER = "SELECT worker, count(*) FROM jobs WHERE state = 'running' AND worker > '' GROUP BY worker"


class Unfinished(NamedTuple):
    """Jobs of a group in one state, and since when the first of them could start."""

    group: str
    state: JobState
    number: int
    first_queued_at: str | None


class Ended(NamedTuple):
    """How a job ended, its state as it is stored. `waited_ms` is None of one that never started."""

    group: str
    state: str
    reason: str | None
    waited_ms: int | None
    ran_ms: int | None
    ended_at: str


def unfinished(view: sqlite3.Connection) -> list[Unfinished]:
    return [Unfinished(row[0], JobState(row[1]), row[2], row[3]) for row in view.execute(_UNFINISHED)]


def ended(view: sqlite3.Connection, since: str, most: int) -> list[Ended]:
    """Those that ended since then, the newest first, at most `most`."""
    rows = view.execute(_ENDED, {"since": since, "most": most})
    return [Ended(*row) for row in rows]


def running_by_worker(view: sqlite3.Connection) -> dict[str, int]:
    return dict(tuple(row) for row in view.execute(_RUNNING_BY_WORKER))


# What the doctor asks for.

_LATE = "SELECT count(*) FROM jobs WHERE state = 'scheduled' AND due_at <= :now"
_SCHEDULES_LATE = "SELECT count(*) FROM schedules WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= :now"
_IN_FILES = "SELECT count(*) FROM jobs WHERE in_files = 1 AND seq > 0"
_FINISHED = "SELECT count(*) FROM jobs WHERE ended_at IS NOT NULL AND ended_at > ''"
_LOST = "SELECT count(*) FROM jobs WHERE state = 'lost' AND +ended_at >= :since"
_PAUSED = """
    SELECT name FROM job_groups WHERE paused = 1 AND name > ''
    AND EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND group_name = job_groups.name) LIMIT :most
"""


class Due(NamedTuple):
    """What waits for a worker, though its time has come."""

    jobs: int
    schedules: int


def late(view: sqlite3.Connection, now: str) -> Due:
    """Jobs and schedules that were due by now and were not looked at yet."""
    return Due(*(view.execute(sql, {"now": now}).fetchone()[0] for sql in (_LATE, _SCHEDULES_LATE)))


def in_files(view: sqlite3.Connection) -> int:
    """Jobs that ended, and whose outputs are no artifacts yet."""
    return int(view.execute(_IN_FILES).fetchone()[0])


def finished(view: sqlite3.Connection) -> int:
    return int(view.execute(_FINISHED).fetchone()[0])


def lost(view: sqlite3.Connection, since: str) -> int:
    """Jobs that are lost since then."""
    return int(view.execute(_LOST, {"since": since}).fetchone()[0])


def held_up(view: sqlite3.Connection, most: int) -> list[str]:
    """Groups that are paused while jobs are queued in them."""
    return [row[0] for row in view.execute(_PAUSED, {"most": most})]
