"""Jobs that nobody looks after, workers that do not move, and what is kept of jobs that ended."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator

from hearth.clock import timestamp
from hearth.engine import leases, presence
from hearth.engine.leases import Standing
from hearth.runtime import Runtime
from hearth.services.self.checks.outcome import Finding, ok, warn
from hearth.settings import DAY_MS
from hearth.store import job_figures, job_groups, workers
from hearth.store.database import FILE_NAME, SCHEMA_VERSION, file_uri, translated, version_of
from hearth.store.jobs import JobState

MOST_SHOWN = 5
MOST_GROUPS = 10_000
HOLE_BYTES = 1024 * 1024
LATE_MS = 10_000  # a worker needs a moment, too


@contextlib.contextmanager
def _opened(runtime: Runtime) -> Iterator[sqlite3.Connection | None]:
    path = os.path.join(runtime.data_dir, FILE_NAME)
    if not os.path.exists(path):
        yield None
        return
    with translated(path), contextlib.closing(sqlite3.connect(file_uri(path, "mode=ro"), uri=True)) as view:
        view.row_factory = sqlite3.Row
        yield view if version_of(view, path) == SCHEMA_VERSION else None


def look(runtime: Runtime) -> Iterator[Finding]:
    """Who looks after jobs, and which ones wait for what?"""
    with _opened(runtime) as view:
        if view is None:
            yield ok("none yet")
            return
        found = [*_workers(runtime, view), *_held_up(view), *_ended(runtime, view)]
        yield from found
        if not found:
            yield ok(_summary(runtime, view))


def _workers(runtime: Runtime, view: sqlite3.Connection) -> Iterator[Finding]:
    rows = workers.all_of(view)
    standing = {row.id: leases.standing(runtime.host, row) for row in rows}
    for row in rows:
        if standing[row.id] is Standing.STUCK:
            quiet = (leases.beat_now() - row.beat_ms) // 1000
            yield warn(
                f"the worker {row.id} (process {row.pid}) has not moved for {quiet:,} s; its jobs go to others",
                "let it go on, or end that process",
            )
    if Standing.LIVING not in standing.values() and (left := _left(runtime, view)):
        yield warn(f"{left}, and no worker is there", "`hearth worker` is one; so is what `hearth task submit` starts")


def _left(runtime: Runtime, view: sqlite3.Connection) -> str:
    counts = dict.fromkeys(JobState, 0)
    paused = set(job_figures.held_up(view, MOST_GROUPS))  # which need none
    for each in job_figures.unfinished(view):
        if each.state is not JobState.QUEUED or each.group not in paused:
            counts[each.state] += each.number
    late = job_figures.late(view, timestamp(runtime.clock.now_ms() - LATE_MS))
    told = {
        "queued": counts[JobState.QUEUED],
        "running": counts[JobState.RUNNING],
        "overdue": late.jobs,
    }
    parts = [
        f"{count:,} {_jobs(count)} {'is' if count == 1 else 'are'} {what}" for what, count in told.items() if count
    ]
    if late.schedules:
        parts.append(f"{late.schedules:,} schedules are overdue")
    return ", ".join(parts)


def _jobs(count: int) -> str:
    return "job" if count == 1 else "jobs"


def _held_up(view: sqlite3.Connection) -> Iterator[Finding]:
    names = job_figures.held_up(view, MOST_SHOWN + 1)
    for name in names[:MOST_SHOWN]:
        queued = job_groups.group(view, name).queued
        waits = f"{queued:,} {_jobs(queued)} in it {'waits' if queued == 1 else 'wait'}"
        yield warn(f"the group {name} is paused, and {waits}", f"`hearth task resume {name}`")
    if len(names) > MOST_SHOWN:
        yield warn("more groups are paused with jobs in them", "`hearth task groups`")


def _ended(runtime: Runtime, view: sqlite3.Connection) -> Iterator[Finding]:
    if count := job_figures.in_files(view):
        yield warn(
            f"the outputs of {count:,} {_jobs(count)} wait in files, since they could not be kept as artifacts",
            "free some space; a worker then keeps them",
        )
    if count := job_figures.lost(view, timestamp(runtime.clock.now_ms() - DAY_MS)):
        yield warn(
            f"{count:,} {_jobs(count)} of the last day {'is' if count == 1 else 'are'} lost: nobody saw the end",
            "submit such jobs with --restart where running them twice does no harm",
        )


def _summary(runtime: Runtime, view: sqlite3.Connection) -> str:
    living = len(leases.living(runtime, view))
    unfinished = sum(each.number for each in job_figures.unfinished(view))
    who = f"{living} {'worker' if living == 1 else 'workers'}, {unfinished:,} unfinished {_jobs(unfinished)}"
    return f"{who}, at most {presence.usual_parallel(runtime)} of a group at once"


def kept(runtime: Runtime) -> Iterator[Finding]:
    """How long is kept what jobs left, and how much of it is there?"""
    keep = runtime.settings.retention
    rule = f"jobs that ended are kept for {keep.jobs_days} days, the newest {keep.jobs_max:,} of them"
    with _opened(runtime) as view:
        count = job_figures.finished(view) if view is not None else 0
    yield ok(f"{rule}, their outputs for {keep.artifacts_days} days; {count:,} are there")


def holes(runtime: Runtime) -> Iterator[Finding]:
    """Can the middle of long outputs be left out while a job runs? Some file systems cannot do that."""
    if not os.path.isdir(runtime.data_dir):
        yield ok("not tried, since there is no data directory yet")
        return
    with tempfile.TemporaryDirectory(dir=runtime.data_dir, prefix="doctor-") as directory:
        path = os.path.join(directory, "try")
        with open(path, "wb") as file:
            file.truncate(2 * HOLE_BYTES)
        can = runtime.host.punch_hole(path, 0, HOLE_BYTES)
    if can:
        yield ok("the middle of long ones is left out while a job runs")
    else:
        most = runtime.settings.worker.output_max_bytes
        yield warn(
            f"{runtime.data_dir} has a file system without holes: a job that prints more than {most:,} bytes is ended",
            "raise worker.output_max_bytes, or choose another directory with --data-dir or HEARTH_DATA_DIR",
        )
