"""Which process looks after which jobs, and which of these processes still lives."""

from __future__ import annotations

import os
import time
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hearth import __version__, identifiers
from hearth.store import jobs, workers
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


def beat_now() -> int:
    """The time for heartbeats, by a clock that all processes of a machine share and no correction of the date moves."""
    return round(time.monotonic() * 1000)


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
    oldest = beat_now() - lease_s * 1000
    return [row for row in workers.all_of(view) if row.beat_ms >= oldest and lives(runtime.host, row)]


def take_over(tx: sqlite3.Connection, runtime: Runtime, me: str, lease_s: float) -> list[Job]:
    """Make the running jobs of workers that are gone, or stand still, one's own; these jobs."""
    rows = {row.id: row for row in workers.all_of(tx)}
    kept = {row.id for row in living(runtime, tx, lease_s=lease_s)} | {me}
    for former in jobs.holders(tx):
        if former not in kept:
            jobs.take_over(tx, former, me)
    for id_ in rows.keys() - kept:
        workers.delete(tx, id_)
    return jobs.held_by(tx, me)
