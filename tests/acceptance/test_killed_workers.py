"""kill -9 of workers, and of who submits: no job is lost, none runs twice, and what it waits for comes first."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hearth import dispatch, identifiers
from hearth.engine.leases import Kind
from hearth.engine.worker import Worker
from hearth.runtime import Runtime
from hearth.store import jobs
from hearth.store.jobs import JobState
from tests.acceptance.dying import open_runtime
from tests.acceptance.ledger import Planned, check, folders

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_500)]
ROOT = Path(__file__).parents[2]
MOST_STEPS = 600
KILLS = int(os.environ.get("STORM_KILLS", "300"))
JOBS_A_KILL = 10
SEED = int(os.environ.get("STORM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)


def new_id(number: int) -> str:
    return identifiers.new("job", number)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Runtime]:
    (folder / "work").mkdir(parents=True, exist_ok=True)
    runtime = open_runtime(folder)
    try:
        yield runtime
    finally:
        runtime.close()


def finish(runtime: Runtime, seconds: float) -> None:
    """Let a worker bring everything to its end."""
    thread = Thread(target=Worker(runtime, Kind.FOREGROUND, idle_exit_ms=0).run, args=(runtime.cancelled,))
    thread.start()
    thread.join(seconds)
    runtime.cancelled.set()
    thread.join(30)
    with runtime.store.read() as view:
        left = view.execute("SELECT id, state, worker, ending FROM jobs WHERE ended_at IS NULL").fetchall()
    assert left == [], [tuple(row) for row in left]


# At every step.


def plan(ledger: Path) -> tuple[list[Planned], list[dict[str, Any]]]:
    """One job of each kind."""
    ids = [new_id(number) for number in range(6)]
    once = Planned(ids[0], 1, JobState.COMPLETED)
    then = Planned(ids[1], 1, JobState.COMPLETED, after=[once.id])
    fails = Planned(ids[2], 2, JobState.FAILED)
    clears_up = Planned(ids[3], 1, JobState.COMPLETED, after=[fails.id])
    never = Planned(ids[4], 0, JobState.BLOCKED)
    again = Planned(ids[5], 1, JobState.COMPLETED)
    return [once, then, fails, clears_up, never, again], [
        once.to_input(ledger, seconds=0, exit_code=0),
        then.to_input(ledger, seconds=0, exit_code=0, dependencies=[{"index": 0}]),
        fails.to_input(ledger, seconds=0, exit_code=3, retry={"attempts": 2, "delay_ms": 1}),
        clears_up.to_input(ledger, seconds=0, exit_code=0, dependencies=[{"index": 2, "on": "failure"}]),
        never.to_input(ledger, seconds=0, exit_code=0, dependencies=[{"index": 2}]),
        again.to_input(ledger, seconds=0, exit_code=0, restart=True),
    ]


def die(steps: int, folder: Path) -> bool:
    """Whether the worker was killed before it was done."""
    command = [sys.executable, "-m", "tests.acceptance.dying_worker", str(steps), str(folder)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=ROOT)
    if done.returncode == 0:
        return False
    assert not done.stderr, done.stderr.decode("utf-8", "replace")
    return True


def test_wherever_a_worker_dies_the_next_one_brings_all_to_an_end_and_nothing_runs_twice(tmp_path: Path) -> None:
    for steps in range(1, MOST_STEPS):
        folder = tmp_path / str(steps)
        with opened(folder) as runtime:
            ledger = folder / "ledger"
            planned, given = plan(ledger)
            answer = dispatch.call_json(runtime, "task.submit", {"jobs": given, "start": False})
            assert answer.error is None, answer.error
            killed = die(steps, folder)
            finish(runtime, 30)
            check(runtime, ledger, planned)
            # What was stored already when the worker died, before its files were removed, is no more than one look's.
            assert len(folders(runtime)) <= 3
            if not killed:
                assert folders(runtime) == []
                return
    raise AssertionError("the worker never got through")


# At random.


class Storm:
    """Processes that are started and killed, and the jobs that they get meanwhile."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.ledger = folder / "ledger"
        self.planned: list[Planned] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def hearth(self, *words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "hearth", *words, "--data-dir", str(self.folder / "data")]
        command += ["--root", str(self.folder)]
        with open(self.folder / "told", "ab") as told:
            return subprocess.Popen(command, cwd=ROOT, stdin=stdin, stdout=told, stderr=told)

    def start_worker(self) -> None:
        self.workers.append(self.hearth("worker"))

    def kill_one(self) -> None:
        victim = self.workers.pop(self.random.randrange(len(self.workers)))
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.wait(self.random.uniform(0, 0.4))
        assert victim.poll() is None, "a worker ended by itself"
        victim.kill()
        victim.wait()

    def kill_a_program(self, runtime: Runtime) -> None:
        """Kill the shell above a program, so that nobody can tell how that ended."""
        with runtime.store.read() as view:
            rows = view.execute("SELECT id, pid FROM jobs WHERE state = 'running' AND pid IS NOT NULL").fetchall()
        for id_, pid in self.random.sample(rows, min(len(rows), 1)):
            next(each for each in self.planned if each.id == id_).may_be_lost = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        for each in self.workers:
            each.kill()
            each.wait()

    def batch(self) -> tuple[list[Planned], list[dict[str, Any]]]:
        planned: list[Planned] = []
        given: list[dict[str, Any]] = []
        for _ in range(JOBS_A_KILL):
            one, fields = self._one(planned)
            planned.append(one)
            given.append(fields)
        return planned, given

    def _one(self, batch: list[Planned]) -> tuple[Planned, dict[str, Any]]:
        draw = self.random
        fails = draw.random() < 0.12
        runs = draw.choice([1, 2, 3]) if fails else 1
        made = Planned(new_id(len(self.planned)), runs, JobState.FAILED if fails else JobState.COMPLETED)
        others = draw.sample([*self.planned[-30:], *batch], min(len(self.planned[-30:]) + len(batch), 2))
        dependencies = []
        for other in others if draw.random() < 0.4 else []:
            holds = {JobState.COMPLETED: "success"}.get(other.state, "failure")
            on = draw.choices([holds, "finished", "success"], [5, 2, 1])[0]
            dependencies.append({"job": other.id, "on": on})
            made.after.append(other.id)
            if on == "success" and other.state is not JobState.COMPLETED:
                made.runs, made.state = 0, JobState.BLOCKED
        fields: dict[str, Any] = {"priority": draw.randrange(-2, 3), "restart": draw.random() < 0.2}
        if fails:
            fields["retry"] = {"attempts": runs, "delay_ms": draw.choice([0, 20])}
        seconds = draw.choice([0, 0, 0.02, 0.2])
        given = made.to_input(self.ledger, seconds=seconds, exit_code=int(fails), dependencies=dependencies, **fields)
        return made, given

    def submit(self, runtime: Runtime) -> None:
        """Submit a batch by a process that may be killed: then all of it is there, or nothing, and it is repeated."""
        planned, given = self.batch()
        text = json.dumps({"jobs": given, "start": False}).encode("ascii")
        killed = self.random.random() < 0.3
        while True:
            process = self.hearth("call", "task.submit", "-", stdin=subprocess.PIPE)
            assert process.stdin is not None
            with process.stdin:
                process.stdin.write(text)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.random.uniform(0.05, 0.4) if killed else 120)
            process.kill()
            status = process.wait()
            with runtime.store.read() as view:
                there = [jobs.find(view, each.id) is not None for each in planned]
            assert len(set(there)) == 1, "a part of a batch was accepted"
            assert there[0] or status != 0
            if there[0]:
                break
            killed = False
        self.planned += planned


def test_a_storm_of_kills_loses_no_job_runs_none_twice_and_keeps_every_order(tmp_path: Path) -> None:
    print(f"STORM_SEED={SEED}")  # noqa: T201
    storm = Storm(tmp_path, SEED)
    with opened(tmp_path) as runtime:
        try:
            for _ in range(2):
                storm.start_worker()
            for _ in range(KILLS):
                storm.submit(runtime)
                if storm.random.random() < 0.1:
                    storm.kill_a_program(runtime)
                storm.kill_one()
                storm.start_worker()
        finally:
            storm.kill_all()
        finish(runtime, 300)
        check(runtime, storm.ledger, storm.planned)
        unfinished = {each.split(".")[0] for each in folders(runtime)} - {each.id for each in storm.planned}
        assert unfinished == set()
