"""The engine below `hearth task`: what it adds to the programs that it runs, and what jobs in the database cost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass

import psutil

from hearth.engine import waiting
from hearth.services.task.job_input import Dependency, JobInput
from hearth.store.jobs import Condition
from tests.benchmarks import peers
from tests.benchmarks.measure import (
    ROOT,
    Command,
    CommandFailed,
    Contender,
    Row,
    Sample,
    Series,
    compare,
    interleaved,
    limit,
)
from tests.benchmarks.session import Session, session
from tests.benchmarks.setting import Setting

COUNT, PARALLEL = 1_000, 4
BATCH = 64  # what one call of task.submit takes
DBOS_COUNT = 100  # it would take minutes for all; its time grows with the number
STARTS = 200
CHAIN = 200
FEW, MANY = (100, 10), (100_000, 10_000)  # ended and waiting jobs
IDLE_S = 20.0
LONGEST_S = 120.0
_BUSY = "SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'waiting', 'running') AND group_name = 'default')"
# The columns that a copy of a job must not share with the job itself; `:n` counts the copies.
_KEYS = {"seq": "NULL", "id": "'job_' || printf('%026d', n)"}


@dataclass(frozen=True, slots=True)
class Working:
    """A session, and a worker in a process of its own."""

    session: Session
    worker: psutil.Process

    def submit(self, *jobs: JobInput) -> list[str]:
        done = self.session.call("task.submit", jobs=jobs, start=False)
        return [job.id for job in done.jobs]

    def wait(self) -> None:
        """Until the jobs of the default group have ended."""
        ended = waiting.wait_until(self.session.runtime, _has_ended, LONGEST_S, starts=False)
        if not ended:
            raise CommandFailed(f"jobs have not ended within {LONGEST_S} s")

    def cpu_ms(self) -> float:
        """Of the worker, the programs that it waited for, and this process, so far."""
        spent = self.worker.cpu_times()
        programs = getattr(spent, "children_user", 0.0) + getattr(spent, "children_system", 0.0)
        return float(spent.user + spent.system + programs + time.process_time()) * 1000


def _has_ended(view: sqlite3.Connection) -> bool | None:
    return None if view.execute(_BUSY).fetchone()[0] else True


@contextmanager
def working(setting: Setting, name: str) -> Iterator[Working]:
    """A session below `folder`, with a worker that looks after four jobs at once."""
    folder = setting.folder / name
    with session(folder, sync=True) as opened, ExitStack() as stack:
        opened.runtime.notice = lambda _: None
        opened.call("task.list")  # makes the database
        words = (sys.executable, "-m", "hearth", "worker", "--data-dir", opened.runtime.data_dir)
        own = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "HEARTH_WORKER_PARALLEL": str(PARALLEL)}
        worker = stack.enter_context(
            subprocess.Popen(words, env={**os.environ, **own}, cwd=folder, stdout=subprocess.DEVNULL)
        )
        # Asked to end, it would hand what waits over to another one, which stays.
        stack.callback(worker.kill)
        waiting.wait_until(opened.runtime, _has_worker, LONGEST_S, starts=False)
        yield Working(opened, psutil.Process(worker.pid))


def _has_worker(view: sqlite3.Connection) -> bool | None:
    return True if view.execute("SELECT EXISTS (SELECT 1 FROM workers)").fetchone()[0] else None


def jobs(setting: Setting) -> list[Row]:
    if sys.platform == "win32":
        return []  # `true`, `sh` and named pipes are the measure
    with working(setting, "few") as few:
        rows = [*_many_small(setting, few), *_starts(few), *_chain(setting, few), _submit(setting, few)]
        fill(few, *FEW)
        with working(setting, "many") as many:
            fill(many, *MANY)
            return [*rows, *_growth(setting, few, many), _idle(many)]


def _many_small(setting: Setting, work: Working) -> list[Row]:
    contenders: dict[str, Contender] = {"hearth": lambda: _throughput(work), "xargs": peers.xargs(COUNT, PARALLEL)}
    for name, make in peers.PEERS.items():
        found = make(setting.folder / name, DBOS_COUNT if name == "dbos" else COUNT, PARALLEL)
        if isinstance(found, str):
            sys.stderr.write(f"jobs: {name} is skipped: {found}\n")
        else:
            contenders[name] = found
    series = interleaved(contenders, setting.rounds)
    what = f"{COUNT:,} jobs of `true`, {PARALLEL} at a time, from the first submit to the last end"
    return [row for name in contenders if name != "hearth" for row in _against(what, name, series)]


_MOST = {"xargs": 3.0, "task-spooler": 1.5, "huey": 1.0, "dbos": 1.0}
_TOLD = {"xargs": "`xargs -P4`", "task-spooler": "task-spooler", "huey": "huey with SQLite", "dbos": "DBOS with SQLite"}


def _against(what: str, name: str, series: dict[str, Series]) -> Iterator[Row]:
    peer = series[name]
    told = _TOLD[name]
    if name == "dbos":
        scale = COUNT / DBOS_COUNT
        peer = Series(tuple(Sample(each.wall_ms * scale, each.cpu_ms * scale) for each in peer.samples))
        told += f", {DBOS_COUNT} jobs times {scale:g}"
    yield compare(what, told, series["hearth"], peer, most=_MOST[name], of="wall_ms")
    yield compare(what, told, series["hearth"], peer, most=float("inf"), to_reach="told only")


def _throughput(work: Working) -> Sample:
    cpu, wall = work.cpu_ms(), time.perf_counter()
    for start in range(0, COUNT, BATCH):
        work.submit(*(JobInput(command="true"),) * min(BATCH, COUNT - start))
    work.wait()
    return Sample((time.perf_counter() - wall) * 1000, work.cpu_ms() - cpu)


def _starts(work: Working) -> list[Row]:
    measured = _latencies(work, STARTS)
    walls = sorted(sample.wall_ms for sample in measured.samples)
    worst = Sample(walls[round(0.99 * (len(walls) - 1))], 0)
    what = f"from `task submit` in one process until the program runs, started by another one, {STARTS} times"
    return [
        limit(f"{what}: p50", measured, of="wall_ms", most=15, to_reach="< 15 ms"),
        limit(f"{what}: p99", Series((worst,)), of="wall_ms", most=60, to_reach="< 60 ms"),
    ]


def _latencies(work: Working, times: int) -> Series:
    with _pipe(work) as started:
        return Series(tuple(started() for _ in range(times)))


@contextmanager
def _pipe(work: Working) -> Iterator[Callable[[], Sample]]:
    """Submits a program that tells by a named pipe that it runs, and measures until it does."""
    path = work.session.work / f"pipe-{time.monotonic_ns()}"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR)

    def started() -> Sample:
        wall = time.perf_counter()
        work.submit(JobInput(command="/bin/sh", args=("-c", f"echo >{path.name}"), cwd=str(work.session.work)))
        os.read(reader, 1)
        sample = Sample((time.perf_counter() - wall) * 1000, 0)
        work.wait()
        return sample

    try:
        yield started
    finally:
        os.close(reader)


def _chain(setting: Setting, work: Working) -> list[Row]:
    alone = Command(("sh", "-c", f"for i in $(seq {CHAIN}); do /bin/true; done"))
    series = interleaved({"hearth": lambda: _linked(work), "alone": alone}, setting.rounds)
    pairs = zip(series["hearth"].samples, series["alone"].samples, strict=True)
    links = Series(tuple(Sample((one.wall_ms - two.wall_ms) / CHAIN, one.cpu_ms / CHAIN) for one, two in pairs))
    what = f"a link of a chain of {CHAIN} jobs that wait for each other, more than the programs alone"
    return [
        limit(what, links, of="wall_ms", most=5, to_reach="< 5 ms"),
        limit(what, links, of="cpu_ms", most=float("inf"), to_reach="told only", note="with the program"),
    ]


def _linked(work: Working) -> Sample:
    cpu, wall = work.cpu_ms(), time.perf_counter()
    last = None
    for start in range(0, CHAIN, BATCH):
        batch = [_link(last, index) for index in range(min(BATCH, CHAIN - start))]
        last = work.submit(*batch)[-1]
    work.wait()
    return Sample((time.perf_counter() - wall) * 1000, work.cpu_ms() - cpu)


def _link(last: str | None, index: int) -> JobInput:
    if index:
        return JobInput(command="true", dependencies=(Dependency(index=index - 1, on=Condition.SUCCESS),))
    before = () if last is None else (Dependency(job=last, on=Condition.SUCCESS),)
    return JobInput(command="true", dependencies=before)


def _submit(setting: Setting, work: Working) -> Row:
    series = interleaved({"submit": lambda: _submitted(work)}, setting.rounds * 4, warm_up=2)
    return limit(f"`task submit` of {BATCH} jobs", series["submit"], of="wall_ms", most=10, to_reach="< 10 ms")


def _submitted(work: Working) -> Sample:
    sample = work.session.timed("task.submit", jobs=(_later(),) * BATCH, start=False)
    _forget_later(work)
    return sample


def _later() -> JobInput:
    """Of a group that starts nothing, so that only the call is measured."""
    return JobInput(command="true", group="held", delay_ms=86_400_000)


def _forget_later(work: Working) -> None:
    with work.session.runtime.store.write() as tx:
        tx.execute("DELETE FROM jobs WHERE group_name = 'held'")


def fill(work: Working, ended: int, waits: int) -> None:
    """Have so many jobs in the database, by copies of one that ended and of one that never starts."""
    store = work.session.runtime.store
    work.session.call("task.pause", groups=("paused",))
    work.submit(JobInput(command="true"))
    work.wait()
    work.submit(JobInput(command="true", group="paused"))
    with store.write() as tx:
        tx.execute("DELETE FROM jobs WHERE ended_at IS NOT NULL AND seq < (SELECT max(seq) - 1 FROM jobs)")
        columns = [row[1] for row in tx.execute("PRAGMA table_info(jobs)")]
        first = 0
        for state, count in (("completed", ended), ("queued", waits)):
            values = ", ".join(_KEYS.get(column, column) for column in columns)
            tx.execute(
                f"WITH RECURSIVE copies (n) AS (SELECT {first + 1} UNION ALL SELECT n + 1 FROM copies WHERE n < "
                f"{first + count - 1}) INSERT INTO jobs ({', '.join(columns)}) SELECT {values} FROM copies,"
                f" (SELECT * FROM jobs WHERE state = '{state}' AND id > 'job_01' LIMIT 1)"
            )
            first += count
    with closing(sqlite3.connect(store.path)) as connection, suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _growth(setting: Setting, few: Working, many: Working) -> list[Row]:
    steps: dict[str, Callable[[Working], Callable[[], Sample]]] = {
        "`task list`": lambda work: lambda: work.session.timed("task.list", limit=50),
        f"`task submit` of {BATCH}": lambda work: lambda: _submitted(work),
    }
    rows = [_grown(setting, what, step(few), step(many)) for what, step in steps.items()]
    with _pipe(few) as starts_few, _pipe(many) as starts_many:
        return [*rows, _grown(setting, "submit until the program runs", starts_few, starts_many)]


def _grown(setting: Setting, what: str, few: Contender, many: Contender) -> Row:
    series = interleaved({"many": many, "few": few}, setting.rounds * 8, warm_up=3)
    against = f"with {FEW[0]:,} and {FEW[1]:,}"
    told = f"{what}, with {MANY[0]:,} ended and {MANY[1]:,} waiting jobs"
    return compare(told, against, series["many"], series["few"], most=1.5, of="wall_ms")


def _idle(work: Working) -> Row:
    def spent() -> float:
        times = work.worker.cpu_times()
        return float(times.user + times.system)

    before, started = spent(), time.monotonic()
    with suppress(psutil.TimeoutExpired):
        work.worker.wait(IDLE_S)
    share = 100 * (spent() - before) / (time.monotonic() - started)
    return _share(share)


def _share(percent: float) -> Row:
    return Row(
        what=f"processor time of an idle worker with {MANY[0]:,} ended and {MANY[1]:,} waiting jobs",
        against="-",
        unit="% of a core",
        hearth=percent,
        hearth_spread=(percent, percent),
        to_reach="< 0.2 %",
        reached=percent < 0.2,
        note=f"within {IDLE_S:g} s",
    )
