"""Which jobs a call is about: those that it names, or those of a group or with labels."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from hearth.errors import HearthError, NotFound, invalid
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Runtime
from hearth.services.task import future_entry
from hearth.services.task.entry import Ids, conversation_of, find
from hearth.services.task.job_input import Name
from hearth.store import job_pages
from hearth.store.futures import Future
from hearth.store.jobs import Job

NEWEST = 1 << 62
MOST_WITH_LABELS = 1_000


@model
class JobsNamed:
    """Some jobs."""

    ids: Ids = ()
    group: Annotated[Name | None, Help("Or those of this group that have not ended.")] = None
    labels: Annotated[tuple[Name, ...], Cli(names=("--label",)), Len(0, 32), Help("Or those with all of these.")] = ()


@model
class JobFailure:
    """A job that nothing was done about."""

    id: Annotated[str, Help("As it was given.")]
    code: Annotated[str, Help("The kind of problem.")]
    message: Annotated[str, Help("What is wrong.")]

    @classmethod
    def of(cls, word: str, error: HearthError) -> JobFailure:
        return cls(id=word, code=error.code, message=error.message)


class Selection(NamedTuple):
    """Each job once, in the order of the call or else the oldest first, and what was named and is not there."""

    jobs: list[Job]
    errors: tuple[JobFailure, ...]
    futures: tuple[Future, ...] = ()


def select(runtime: Runtime, view: sqlite3.Connection, given: JobsNamed, *, ended: bool = False) -> Selection:
    """The jobs that are meant; with `ended` those with labels also where they have ended. Raises `NotFound` when
    the only one is not there, and `InvalidInput`."""
    check_ways(given.ids, given.group, given.labels)
    if given.ids:
        return named(runtime, view, given.ids, futures=True)
    own = conversation_of(runtime)
    if not (ended and given.labels):
        return Selection(job_pages.unfinished(view, group=given.group, labels=given.labels, conversation=own), ())
    found = job_pages.page(
        view, before=NEWEST, limit=MOST_WITH_LABELS, group=given.group, labels=given.labels, conversation=own
    )
    if not found:
        raise NotFound(f"no job has the labels {', '.join(given.labels)}", labels=list(given.labels))
    return Selection(found[::-1], ())


def check_ways(ids: Sequence[str], *others: object) -> None:
    if bool(ids) is any(others):
        raise invalid("ids", "not_one_of", "give either ids, or a group or labels or both")


def named(runtime: Runtime, view: sqlite3.Connection, ids: Sequence[str], *, futures: bool = False) -> Selection:
    """The jobs with these ids, and the `futures`. Raises `NotFound` when the only one is not there."""
    found: dict[int, Job] = {}
    calls: dict[int, Future] = {}
    errors = []
    for index, word in enumerate(dict.fromkeys(ids)):
        try:
            if futures and future_entry.is_future(word):
                call = future_entry.find(runtime, view, word, f"ids.{index}")
                calls[call.seq] = call
            else:
                job = find(runtime, view, word, f"ids.{index}")
                found[job.seq] = job
        except NotFound as error:
            if len(ids) == 1:
                raise
            errors.append(JobFailure.of(word, error))
    return Selection(list(found.values()), tuple(errors), tuple(calls.values()))
