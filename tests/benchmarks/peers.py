"""Other queues that run programs, each doing the same work as hearth's worker.

task-spooler is the Debian package of that name; huey and dbos come from the package index, into an environment of their
own whose Python BENCH_PEERS_PYTHON names. Who is not there is told and left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.measure import Command, CommandFailed, Contender, Sample

VARIABLE = "BENCH_PEERS_PYTHON"
LIMIT_S = 300
_HUEY = """
import json, logging, os, subprocess, sys, time
from huey import SqliteHuey
folder, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
huey = SqliteHuey(filename=os.path.join(folder, "huey.sqlite3"))
@huey.task()
def run():
    return subprocess.run(["true"], check=True).returncode + 1
consumer = huey.create_consumer(workers=parallel, initial_delay=0.001, max_delay=0.01, periodic=False)
consumer.start()
started = time.perf_counter(), os.times()
for result in [run() for _ in range(count)]:
    result.get(blocking=True, backoff=1.0, max_delay=0.01)
wall, now = time.perf_counter() - started[0], os.times()
print(json.dumps([wall, sum(now[:4]) - sum(started[1][:4])]), flush=True)
os._exit(0)
"""
_DBOS = """
import json, os, subprocess, sys, time
from dbos import DBOS
folder, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder}/dbos.sqlite3", "run_admin_server": False,
             "log_level": "ERROR"})
@DBOS.workflow()
def run():
    return subprocess.run(["true"], check=True).returncode
DBOS.launch()
DBOS.register_queue("queue", worker_concurrency=parallel, polling_interval_sec=0.01)
started = time.perf_counter(), os.times()
for handle in [DBOS.enqueue_workflow("queue", run) for _ in range(count)]:
    handle.get_result(polling_interval_sec=0.01)
wall, now = time.perf_counter() - started[0], os.times()
print(json.dumps([wall, sum(now[:4]) - sum(started[1][:4])]), flush=True)
os._exit(0)
"""


def xargs(count: int, parallel: int) -> Contender:
    return Command(("sh", "-c", f"seq {count} | xargs -P{parallel} -n1 true"))


def task_spooler(folder: Path, count: int, parallel: int) -> Contender | str:
    """One server, which keeps the outputs in files as hearth does; each job is submitted by a command, its only way."""
    program = shutil.which("tsp")
    if program is None:
        return "there is no tsp on PATH (the Debian package task-spooler)"
    folder.mkdir()
    # Whoever waits for the last job may be ahead of those that were started before it.
    script = (
        f"{program} -K; {program} -S {parallel}; for i in $(seq {count}); do {program} true; done >{folder}/ids;"
        f" for id in $(tail -n {parallel} {folder}/ids); do {program} -w $id; done; {program} -K"
    )
    environment = {"TS_SOCKET": str(folder / "socket"), "TMPDIR": str(folder), "TS_MAXFINISHED": "10"}
    return Command(("sh", "-c", f"{{ {script}; }} 2>/dev/null"), environment=environment)


def huey(folder: Path, count: int, parallel: int) -> Contender | str:
    """Threads of one process that also submits, which spares it the talk between two."""
    return _in_python("huey", _HUEY, folder, count, parallel)


def dbos(folder: Path, count: int, parallel: int) -> Contender | str:
    """The same with a workflow for each program."""
    return _in_python("dbos", _DBOS, folder, count, parallel)


def _in_python(name: str, code: str, folder: Path, count: int, parallel: int) -> Contender | str:
    python = os.environ.get(VARIABLE, sys.executable)
    if subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode:
        return f"{python} has no {name} ({VARIABLE} names a Python that has it)"
    return lambda: _told(name, (python, "-c", code), folder, count, parallel)


def _told(name: str, words: tuple[str, ...], folder: Path, count: int, parallel: int) -> Sample:
    made = folder / f"{name}-{time.monotonic_ns()}"
    made.mkdir(parents=True)
    done = subprocess.run(
        [*words, str(made), str(count), str(parallel)], capture_output=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        raise CommandFailed(f"{name} ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    wall_s, cpu_s = json.loads(done.stdout.splitlines()[-1])
    return Sample(wall_s * 1000, cpu_s * 1000)


PEERS: dict[str, Callable[[Path, int, int], Contender | str]] = {
    "task-spooler": task_spooler,
    "huey": huey,
    "dbos": dbos,
}
