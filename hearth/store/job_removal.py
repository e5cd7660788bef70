"""Forgetting jobs that ended: which ones, and what goes with them. One that has not ended never goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from hearth.store import artifacts
from hearth.store.jobs import JobState

# Both artifacts of its newest run, and those of the runs before.
_BYTES = """
    (SELECT coalesce(sum(size), 0) FROM artifacts WHERE pinned = 0 AND id IN (
        SELECT stdout_artifact UNION SELECT stderr_artifact
        UNION SELECT stdout_artifact FROM job_attempts WHERE job = chosen.seq
        UNION SELECT stderr_artifact FROM job_attempts WHERE job = chosen.seq))
"""
_CHOSEN = """
    ended_at IS NOT NULL AND ended_at < :before
    AND (:states = '' OR instr(:states, ',' || state || ',') > 0)
    AND (:group_name IS NULL OR group_name = :group_name)
    AND (:conversation IS NULL OR conversation = :conversation)
"""
_COUNT = f"SELECT count(*) FROM jobs WHERE {_CHOSEN}"
_OLDEST = f"""
    SELECT seq, id, attempt, ended_at FROM jobs WHERE (ended_at, seq) > (:after_at, :after) AND {_CHOSEN}
    ORDER BY ended_at, seq LIMIT :most
"""
_SIZE = f"""
    SELECT count(*), coalesce(sum({_BYTES}), 0) FROM (
        SELECT seq, stdout_artifact, stderr_artifact FROM jobs WHERE {_CHOSEN} ORDER BY ended_at, seq LIMIT :most
    ) AS chosen
"""


class Which(NamedTuple):
    """Jobs that ended before a time: all, or those in these states, of this group, of this conversation."""

    before: str
    states: Collection[JobState] = ()
    group: str | None = None
    conversation: str | None = None

    @property
    def values(self) -> dict[str, str | int | None]:
        return {
            "before": self.before,
            "states": f",{','.join(self.states)}," if self.states else "",
            "group_name": self.group,
            "conversation": self.conversation,
        }


class Old(NamedTuple):
    """A job that may go."""

    seq: int
    id: str
    attempt: int
    ended_at: str


FIRST = Old(0, "", 0, "")


def count(view: sqlite3.Connection, which: Which) -> int:
    return int(view.execute(_COUNT, which.values).fetchone()[0])


def size(view: sqlite3.Connection, which: Which, most: int) -> tuple[int, int]:
    """How many these are, at most `most`, and the bytes of artifacts that go with the oldest so many."""
    found = view.execute(_SIZE, {**which.values, "most": most}).fetchone()
    return found[0], found[1]


def oldest(view: sqlite3.Connection, which: Which, most: int, *, after: Old = FIRST) -> list[Old]:
    """Those that ended first, from behind `after`."""
    values = {**which.values, "most": most, "after_at": after.ended_at, "after": after.seq}
    return [Old(*row) for row in view.execute(_OLDEST, values)]


_ARTIFACTS = """
    SELECT id, at, body, size FROM artifacts WHERE pinned = 0 AND id IN (
        SELECT stdout_artifact FROM jobs WHERE seq = :seq
        UNION SELECT stderr_artifact FROM jobs WHERE seq = :seq
        UNION SELECT stdout_artifact FROM job_attempts WHERE job = :seq
        UNION SELECT stderr_artifact FROM job_attempts WHERE job = :seq)
"""
_BYTES_OF_ONE = f"SELECT coalesce(sum(size), 0) FROM ({_ARTIFACTS})"
_ENVIRONMENT = "SELECT environment FROM jobs WHERE seq = :seq AND ended_at IS NOT NULL"
_DELETE = "DELETE FROM jobs WHERE seq = :seq AND ended_at IS NOT NULL"
_DELETE_ENVIRONMENT = """
    DELETE FROM environments WHERE seq = :seq
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE environment = :seq)
    AND NOT EXISTS (SELECT 1 FROM schedules WHERE environment = :seq)
"""


def bytes_of(view: sqlite3.Connection, seq: int) -> int:
    """Bytes of artifacts that go with a job."""
    return int(view.execute(_BYTES_OF_ONE, {"seq": seq}).fetchone()[0])


def forget(tx: sqlite3.Connection, seq: int) -> list[artifacts.Old] | None:
    """Remove a job with its runs, its labels, its artifacts that are not pinned, and its variables if they were its
    alone; these artifacts, or None where there is no such job that has ended. What depended on it was settled when
    it ended."""
    environment = tx.execute(_ENVIRONMENT, {"seq": seq}).fetchone()
    if environment is None:
        return None
    gone = [artifacts.Old(*row) for row in tx.execute(_ARTIFACTS, {"seq": seq}).fetchall()]
    for each in gone:
        artifacts.delete(tx, each.id)
    tx.execute(_DELETE, {"seq": seq})
    tx.execute(_DELETE_ENVIRONMENT, {"seq": environment[0]})
    return gone


_UNUSED_ENVIRONMENTS = """
    SELECT seq, length(variables) FROM environments WHERE seq > :after
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE environment = environments.seq)
    AND NOT EXISTS (SELECT 1 FROM schedules WHERE environment = environments.seq)
    ORDER BY seq LIMIT :most
"""


def unused_environments(view: sqlite3.Connection, after: int, most: int) -> list[tuple[int, int]]:
    """The numbers and bytes of variables that no job and no schedule has any more."""
    rows = view.execute(_UNUSED_ENVIRONMENTS, {"after": after, "most": most})
    return [(row[0], row[1]) for row in rows]


def delete_environment(tx: sqlite3.Connection, seq: int) -> bool:
    """Remove variables, unless somebody has them again."""
    return tx.execute(_DELETE_ENVIRONMENT, {"seq": seq}).rowcount == 1
