"""Jobs that note in a file that they ran, and what must hold of that file once all of them have ended."""

from __future__ import annotations

import os
import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from hearth.runtime import Runtime
from hearth.store import jobs
from hearth.store.jobs import FINAL, JobState
from tests.marks import WINDOWS

# One write at the end of the file, so that lines of programs that end at once are whole.
NOTE = 'sleep "$1"; echo "$HEARTH_JOB" >>"$2"; exit "$3"'
NOTE_ON_WINDOWS = """
import _winapi, os, sys, time
_, seconds, ledger, code = sys.argv
time.sleep(float(seconds))
adds, shares_all, makes = 4, 7, 4
file = _winapi.CreateFile(ledger, adds, shares_all, 0, makes, 0, 0)
_winapi.WriteFile(file, os.environ["HEARTH_JOB"].encode("ascii") + b"\\n")
sys.exit(int(code))
"""


@dataclass
class Planned:
    """A job, and how it has to end. `runs` is how often, unless something ends it from outside."""

    id: str
    runs: int
    state: JobState
    after: list[str] = field(default_factory=list)  # what must have ended before it began
    # Its shell was killed; on Windows only who has a handle of a program is told how it ended.
    may_be_lost: bool = WINDOWS

    def to_input(self, ledger: Path, *, seconds: float, exit_code: int, **fields: Any) -> dict[str, Any]:
        command, *words = noting(ledger, seconds, exit_code)
        return {"id": self.id, "command": command, "args": words, **fields}


def noting(ledger: Path, seconds: float = 0, exit_code: int = 0) -> list[str]:
    """The words of a program that notes that it ran, after some time."""
    start = [sys.executable, "-S", "-E", "-c", NOTE_ON_WINDOWS] if WINDOWS else ["sh", "-c", NOTE, "sh"]
    return [*start, str(seconds), str(ledger), str(exit_code)]


def check(runtime: Runtime, ledger: Path, planned: list[Planned]) -> None:
    """Every job has ended as it should, ran as often as it should and after what it waited for; nothing is left."""
    lines = ledger.read_text(encoding="ascii").splitlines()
    first = {line: number for number, line in reversed(list(enumerate(lines)))}
    last = {line: number for number, line in enumerate(lines)}
    counts = {each.id: 0 for each in planned}
    for line in lines:
        counts[line] += 1
    uncertain: set[str] = set()
    with runtime.store.read() as view:
        for each in planned:
            if each.may_be_lost or uncertain.intersection(each.after):
                uncertain.add(each.id)
            found = jobs.find(view, each.id)
            assert found is not None, f"{each.id} is missing"
            told = f"{found} ran {counts[each.id]} times, planned {each}"
            assert found.state in FINAL, told
            if each.id not in uncertain:
                assert (found.state, counts[each.id]) == (each.state, each.runs), told
                assert found.attempt == each.runs or found.state is JobState.BLOCKED, told
            assert counts[each.id] <= found.attempt, told
            for other in each.after:
                if each.id in first and other in last:
                    assert last[other] < first[each.id], f"{told}, before {other}"
        assert len(uncertain) < max(2, len(planned) // 2)
        assert view.execute("SELECT count(*) FROM jobs").fetchone()[0] == len(planned)
        assert view.execute("SELECT count(*) FROM jobs WHERE unmet > 0 AND state <> 'blocked'").fetchone()[0] == 0
    check_nothing_is_left(runtime, ledger)


def check_nothing_is_left(runtime: Runtime, ledger: Path) -> None:
    with sqlite3.connect(runtime.store.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    left = [each.pid for each in psutil.process_iter() if str(ledger) in _command_line(each)]
    assert left == []


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def folders(runtime: Runtime) -> list[str]:
    """What is left of runs."""
    try:
        return os.listdir(os.path.join(runtime.data_dir, "jobs"))
    except FileNotFoundError:
        return []
