"""Groups of jobs: how many of each may run at once, and which are paused."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

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
