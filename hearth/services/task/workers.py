"""task.workers: which processes look after jobs."""

from __future__ import annotations

import sqlite3
from typing import Annotated

from hearth.engine import leases
from hearth.engine.leases import Kind, Standing
from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.store import job_figures, workers


@model
class ListWorkers:
    pass


@model
class WorkerEntry:
    """A process that looks after jobs."""

    id: Annotated[str, Help("The worker's id.")]
    standing: Annotated[
        Standing, Help("How it is: living; stuck (its process shows nothing for long); gone, and nobody saw it yet.")
    ]
    kind: Annotated[Kind, Help("What it is part of: foreground (`hearth worker`), background or server.")]
    pid: Annotated[int, Help("Its process.")]
    jobs: Annotated[int, Help("Jobs that it looks after.")]
    started_at: Annotated[str, Help("When it became a worker.")]
    quiet_ms: Annotated[int | None, Help("How long ago it last showed that it lives; null where it is gone.")]
    version: Annotated[str, Help("Its version of hearth.")]


@model
class WorkerList:
    state: State = State.COMPLETED
    workers: Annotated[
        tuple[WorkerEntry, ...],
        Items(columns=("id", "standing", "kind", "pid", "jobs", "started_at")),
        Help("Workers, the oldest first; the next one of all removes those that are gone."),
    ]


def list_workers(runtime: Runtime, given: ListWorkers) -> WorkerList:  # noqa: ARG001
    """Raises `DatabaseError`."""
    with runtime.store.read() as view:
        return WorkerList(workers=entries(runtime, view))


def entries(runtime: Runtime, view: sqlite3.Connection) -> tuple[WorkerEntry, ...]:
    counts = job_figures.running_by_worker(view)
    return tuple(_entry(runtime, row, counts.get(row.id, 0)) for row in workers.all_of(view))


def _entry(runtime: Runtime, row: workers.WorkerRow, jobs: int) -> WorkerEntry:
    standing = leases.standing(runtime.host, row)
    return WorkerEntry(
        id=row.id,
        standing=standing,
        kind=Kind(row.kind),
        pid=row.pid,
        jobs=jobs,
        started_at=row.started_at,
        quiet_ms=None if standing is Standing.GONE else max(0, leases.beat_now() - row.beat_ms),
        version=row.version,
    )
