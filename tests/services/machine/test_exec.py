"""machine.exec: what a program prints, how it ends, what it is given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.errors import HearthError
from hearth.model import State
from hearth.runtime import Runtime
from hearth.services.machine.exec import ProgramEnded, RunProgram, run_program

Hearth = Callable[..., Any]


def python(runtime: Runtime, code: str, **given: Any) -> ProgramEnded:
    return run_program(runtime, RunProgram(command=sys.executable, args=("-c", code), **given))


def test_both_outputs_and_the_exit_code_are_answered_apart(runtime: Runtime) -> None:
    ended = python(runtime, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended.state, ended.exit_code, ended.signal) == (State.FAILED, 3, None)
    assert (ended.stdout.splitlines(), ended.stderr.splitlines()) == (["out"], ["err"])
    assert ended.program == sys.executable


def test_a_program_starts_in_the_current_directory(runtime: Runtime, work: Path) -> None:
    ended = python(runtime, "import os; print(os.getcwd())")
    assert Path(ended.stdout.rstrip()) == Path(ended.cwd) == work.resolve()


@pytest.mark.parametrize(
    "code", ["import sys; print(repr(sys.stdin.read()))", "try: input()\nexcept EOFError: print(\"''\")"]
)
def test_a_program_that_reads_input_without_any_meets_its_end(runtime: Runtime, code: str) -> None:
    assert python(runtime, code).stdout.strip() == "''"


def test_text_for_the_input_arrives_exactly(runtime: Runtime) -> None:
    text = 'a "b" $c\n\\ä'
    ended = python(runtime, "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=text)
    assert ended.stdout == text


def test_a_program_that_is_missing_is_told_with_what_was_searched(runtime: Runtime, hearth: Hearth) -> None:
    with pytest.raises(HearthError) as caught:
        run_program(runtime, RunProgram(command="no-such-program", env={"PATH": "/usr/bin"}))
    assert caught.value.code == "program_not_found"
    assert "/usr/bin" in caught.value.message
    assert hearth("machine", "exec", "no-such-program").status == 127


def test_the_shell_ends_as_the_program_did(hearth: Hearth) -> None:
    for words in ((), ("--json",)):
        done = hearth("machine", "exec", *words, sys.executable, "-c", "print('--json'); raise SystemExit(7)")
        assert done.status == 7
    assert done.json["exit_code"] == 7


def test_the_shell_passes_on_both_outputs_as_they_are(hearth: Hearth) -> None:
    code = r"import sys; sys.stdout.buffer.write(b'\xff\0out'); sys.stderr.write('err')"
    done = hearth("machine", "exec", "--", sys.executable, "-c", code)
    assert (done.status, done.out_bytes, done.err) == (0, b"\xff\0out", "err")


def test_words_behind_the_program_are_its_own(hearth: Hearth) -> None:
    done = hearth("machine", "exec", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--json", "--", "-q")
    assert done.out.strip() == "['--json', '--', '-q']"
