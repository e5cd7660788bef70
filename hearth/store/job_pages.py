"""Which jobs there are: pages of them, newest first, and those that a call means by their group or labels."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from hearth.store.jobs import UNFINISHED, Job, JobState, job_of

# What holds of a row beside what its statement finds it by. Null and empty choose everything; + keeps an index on
# times from being used, after which all that is found would have to be sorted.
_CHOSEN = """
    seq < :before AND +created_at >= :since AND +created_at <= :until
    AND (:states = '' OR instr(:states, ',' || state || ',') > 0)
    AND (:text = '' OR title LIKE :text ESCAPE '\\')
    AND (:group_name IS NULL OR group_name = :group_name)
    AND (:schedule IS NULL OR schedule = :schedule)
    AND (:conversation IS NULL OR conversation = :conversation)
    AND (:labels = '' OR :count = (
        SELECT count(*) FROM job_labels WHERE job = jobs.seq AND instr(:labels, ',' || label || ',') > 0))
"""
# Statements of their own, so that a few among a hundred thousand are found by an index.
_PAGE = f"""
    SELECT * FROM jobs WHERE seq >= :first AND {_CHOSEN} ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_STATE = f"""
    SELECT * FROM jobs WHERE state = :state AND seq >= :first AND {_CHOSEN} ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_GROUP = f"""
    SELECT * FROM jobs WHERE group_name = :group_name AND seq >= :first AND {_CHOSEN} ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_SCHEDULE = f"""
    SELECT * FROM jobs WHERE schedule = :schedule AND seq >= :first AND {_CHOSEN} ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_CONVERSATION = f"""
    SELECT * FROM jobs WHERE conversation = :conversation AND seq >= :first AND {_CHOSEN}
    ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_LABEL = f"""
    SELECT jobs.* FROM job_labels JOIN jobs ON jobs.seq = job_labels.job
    WHERE job_labels.label = :label AND job_labels.job >= :first AND job_labels.job < :before AND {_CHOSEN}
    ORDER BY job_labels.job DESC LIMIT :limit
"""
_ALL = 1 << 62
# + keeps SQLite from going through all jobs in their order, as it would for the least and the greatest of a key.
_FIRST_SINCE = "SELECT min(+seq) FROM jobs WHERE created_at >= :since"
_LAST_UNTIL = "SELECT max(+seq) FROM jobs WHERE created_at <= :until"


def page(
    view: sqlite3.Connection,
    *,
    before: int,
    limit: int,
    states: Collection[JobState] = (),
    group: str | None = None,
    labels: Sequence[str] = (),
    text: str = "",
    since: str = "",
    until: str = "~",
    schedule: str | None = None,
    conversation: str | None = None,
) -> list[Job]:
    """Jobs with a lower sequence number than `before`, the newest first; with `labels` those that have all of them,
    with `text` those whose title holds it, in letters of any case. No `states` are all."""
    labels = tuple(dict.fromkeys(labels))
    values = {
        "before": before,
        "first": 0,
        "limit": limit,
        "states": _joined(states),
        "group_name": group,
        "label": labels[0] if labels else None,
        "labels": _joined(labels),
        "count": len(labels),
        "text": f"%{_escaped(text)}%" if text else "",
        "since": since,
        "until": until,
        "schedule": schedule,
        "conversation": conversation,
    }
    # Without these, times of long ago or of just now would be looked for among all jobs.
    if since:
        values["first"] = _number(view, _FIRST_SINCE, since=since, otherwise=before)
    if until != "~":
        values["before"] = min(before, _number(view, _LAST_UNTIL, until=until, otherwise=-1) + 1)
    if not labels and _are_rare(states) and schedule is None:
        found = (row for state in set(states) for row in view.execute(_PAGE_OF_STATE, {**values, "state": state}))
        return sorted(map(job_of, found), key=lambda job: -job.seq)[:limit]
    return [job_of(row) for row in view.execute(_statement(values), values)]


def _statement(values: dict[str, object]) -> str:
    by = {
        "label": _PAGE_OF_LABEL,
        "schedule": _PAGE_OF_SCHEDULE,
        "group_name": _PAGE_OF_GROUP,
        "conversation": _PAGE_OF_CONVERSATION,
    }
    return next((statement for name, statement in by.items() if values[name] is not None), _PAGE)


def _are_rare(states: Collection[JobState]) -> bool:
    """Most jobs are completed; others are looked for among those of their state rather than those of a group."""
    return bool(states) and JobState.COMPLETED not in states


def _number(view: sqlite3.Connection, sql: str, *, otherwise: int, **values: str) -> int:
    found = view.execute(sql, values).fetchone()[0]
    return otherwise if found is None else int(found)


def _joined(words: Iterable[str]) -> str:
    """In commas, which neither states nor labels hold."""
    joined = ",".join(words)
    return f",{joined}," if joined else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def unfinished(
    view: sqlite3.Connection,
    *,
    group: str | None = None,
    labels: Sequence[str] = (),
    conversation: str | None = None,
) -> list[Job]:
    """The jobs of a group, or with all of these labels, that have not ended; the oldest first."""
    found = page(
        view, before=_ALL, limit=_ALL, states=UNFINISHED, group=group, labels=labels, conversation=conversation
    )
    return found[::-1]
