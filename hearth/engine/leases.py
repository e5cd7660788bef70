"""Which process looks after which jobs, and which of these processes still lives."""

from __future__ import annotations

import os
import time
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hearth import __version__, identifiers
from hearth.engine.moves import milliseconds_between
from hearth.store import job_queue, workers
from hearth.store.workers import WorkerRow

if TYPE_CHECKING:
    import sqlite3

    from hearth.platforms.base import Host
    from hearth.runtime import Runtime
    from hearth.store.jobs import Job

BEAT_S = 10.0
LEASE_S = 60.0  # a worker whose heart stood still for longer loses its jobs, although its process is there


class Kind(StrEnum):
    """What a worker is part of."""

    FOREGROUND = "foreground"
    BACKGROUND = "background"
    SERVER = "server"


class Process(NamedTuple):
    """A process of this or an earlier start of the machine, never mistaken for a later one with its number."""

    pid: int
    start: str
    boot: str


def this_process(host: Host) -> Process:
    pid = os.getpid()
    return Process(pid, host.process_start(pid) or "", host.boot_id())


def lives(host: Host, row: WorkerRow) -> bool:
    """Whether the worker's process is there."""
    return row.boot == host.boot_id() and host.process_start(row.pid) == row.pid_start


class Standing(StrEnum):
    """What a worker's row says of it."""

    LIVING = "living"
    STUCK = "stuck"  # its process is there, but showed nothing for long; others take its jobs
    GONE = "gone"


def standing(host: Host, row: WorkerRow, *, lease_s: float = LEASE_S) -> Standing:
    if not lives(host, row):
        return Standing.GONE
    return Standing.LIVING if beat_now() - row.beat_ms <= lease_s * 1000 else Standing.STUCK


def beat_now() -> int:
    """The time for heartbeats, by a clock that all processes of a machine share and no correction of the date moves."""
    return round(time.monotonic() * 1000)


def ran_ms(runtime: Runtime, job: Job) -> int | None:
    """For how long a job has run by now; by the date only where the machine was started anew since."""
    if job.started_ms is not None and job.boot == runtime.host.boot_id():
        return max(0, beat_now() - job.started_ms)
    return milliseconds_between(job.started_at, runtime.now())


def sign_on(runtime: Runtime, kind: Kind) -> WorkerRow:
    """Become a worker. Raises `DatabaseError`, `NoSpace`."""
    process = this_process(runtime.host)
    row = WorkerRow(
        id=identifiers.new("wrk", runtime.clock.now_ms()),
        kind=kind,
        pid=process.pid,
        pid_start=process.start,
        boot=process.boot,
        version=__version__,
        started_at=runtime.now(),
        beat_ms=beat_now(),
    )
    with runtime.store.write() as tx:
        workers.insert(tx, row)
    return row


def living(runtime: Runtime, view: sqlite3.Connection, *, lease_s: float = LEASE_S) -> list[WorkerRow]:
    """The workers that look after jobs now."""
    rows = workers.all_of(view)
    return [row for row in rows if standing(runtime.host, row, lease_s=lease_s) is Standing.LIVING]


def take_over(tx: sqlite3.Connection, runtime: Runtime, me: str, lease_s: float) -> list[Job]:
    """Make the running jobs of workers that are gone, or stand still, one's own; these jobs. The row of one that
    stands still stays, and tells of it until its process ends or moves again."""
    found = {row.id: standing(runtime.host, row, lease_s=lease_s) for row in workers.all_of(tx)}
    for former in job_queue.holders(tx):
        if former != me and found.get(former) is not Standing.LIVING and (moved := job_queue.take_over(tx, former, me)):
            runtime.log.warning(
                f"{moved} jobs of {former}, which is {found.get(former, Standing.GONE)}, are {me}'s now"
            )
    for id_, stands in found.items():
        if stands is Standing.GONE and id_ != me:
            workers.delete(tx, id_)
    return job_queue.held_by(tx, me)
