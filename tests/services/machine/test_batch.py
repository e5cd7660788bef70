"""machine.batch: several programs at once."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.errors import Cancelled, InvalidInput
from hearth.execution import Slots
from hearth.model import State
from hearth.runtime import Runtime
from hearth.services.machine.batch import ProgramsEnded, RunPrograms, run_programs
from hearth.services.machine.exec import RunProgram
from hearth.settings import Settings
from tests.marks import posix_only

Hearth = Callable[..., Any]


def program(code: str, **given: Any) -> RunProgram:
    return RunProgram(command=sys.executable, args=("-c", code), **given)


def run(runtime: Runtime, *programs: RunProgram, fail_fast: bool = False) -> ProgramsEnded:
    return run_programs(runtime, RunPrograms(commands=programs, fail_fast=fail_fast))


def test_results_come_in_the_order_of_the_call(runtime: Runtime) -> None:
    late = program("import time; time.sleep(0.3); print('late')")
    done = run(runtime, late, program("print('soon')"))
    assert done.state is State.COMPLETED
    assert [each.result.stdout.strip() for each in done.results if each.result] == ["late", "soon"]


def test_programs_run_at_the_same_time(runtime: Runtime, work: Path) -> None:
    # Each waits for a file that the other one makes.
    code = "import os, sys, time\nopen({0!r}, 'w').close()\nwhile not os.path.exists({1!r}): time.sleep(0.01)"
    done = run(
        runtime,
        *(program(code.format(str(work / a), str(work / b)), timeout_ms=4_000) for a, b in (("a", "b"), ("b", "a"))),
    )
    assert done.state is State.COMPLETED


def test_what_failed_is_told_and_the_others_go_on(runtime: Runtime) -> None:
    done = run(runtime, program("print('ok')"), program("raise SystemExit(3)"), RunProgram(command="no-such-program"))
    assert done.state is State.PARTIAL
    assert [each.state for each in done.results] == [State.COMPLETED, State.FAILED, State.BLOCKED]
    assert [(error.index, error.code) for error in done.errors] == [(1, "exit_code"), (2, "program_not_found")]


def test_when_all_failed_the_call_did(runtime: Runtime) -> None:
    assert run(runtime, program("raise SystemExit(1)")).state is State.FAILED


def test_fail_fast_ends_the_others(runtime: Runtime) -> None:
    sleeper = program("import time; time.sleep(300)", grace_ms=100)
    done = run(runtime, sleeper, program("raise SystemExit(1)"), fail_fast=True)
    assert [each.state for each in done.results] == [State.CANCELLED, State.FAILED]


def test_taking_the_call_back_ends_all(runtime: Runtime) -> None:
    threading.Timer(0.2, runtime.cancelled.set).start()
    with pytest.raises(Cancelled):
        run(runtime, *[program("import time; time.sleep(300)", grace_ms=100)] * 3)


def test_all_outputs_together_stay_within_the_bound(runtime: Runtime) -> None:
    small = runtime.for_call(settings=Settings(max_output_bytes=4_096))
    done = run(small, *[program("print('x' * 3_000)")] * 4)
    results = [each.result for each in done.results if each.result]
    assert sum(len(each.stdout) for each in results) < 4_096
    assert all(each.stdout_facts.artifact for each in results)


def test_more_than_there_are_handles_for_wait_for_each_other(runtime: Runtime, work: Path) -> None:
    runtime.opener.keep("program slots", lambda: Slots(2))
    # Each counts those that run beside it.
    code = "import os, time\nos.mkdir(f'run-{os.getpid()}'); time.sleep(0.05)\n" + (
        "print(len(os.listdir())); os.rmdir(f'run-{os.getpid()}')"
    )
    done = run(runtime, *[program(code, cwd=str(work))] * 6)
    assert done.state is State.COMPLETED
    assert max(int(each.result.stdout) for each in done.results if each.result) <= 2


def test_words_at_the_shell_become_commands(hearth: Hearth) -> None:
    quoted = f"'{sys.executable}' -c 'print(\"a b\")'"
    as_json = json.dumps({"command": sys.executable, "args": ["-c", "raise SystemExit(2)"]})
    done = hearth("machine", "batch", "--json", quoted, as_json)
    assert done.status == 1
    assert [each["exit_code"] for each in done.json["results"]] == [0, 2]
    assert done.json["results"][0]["result"]["stdout"].strip() == "a b"


@pytest.mark.parametrize("words", ["", "  ", "'open"])
def test_words_that_are_no_command_are_refused(words: str) -> None:
    with pytest.raises(InvalidInput):
        RunProgram.from_word(words)


@posix_only("backslashes are plain on every system, which only shows where paths have none")
def test_a_backslash_is_a_character_like_others() -> None:
    assert RunProgram.from_word(r"C:\tools\run.exe a\b").args == (r"a\b",)


def test_more_than_16_are_refused(hearth: Hearth) -> None:
    assert hearth("machine", "batch", *["true"] * 17).status == 2
