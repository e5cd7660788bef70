"""machine.exec on Windows: batch files, code pages, look-up, exit codes of 32 bits."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearth.content.printed import Note
from hearth.model import State
from hearth.runtime import Runtime
from hearth.services.machine.exec import RunProgram, run_program

Hearth = Callable[..., Any]
ACCESS_VIOLATION = 0xC0000005


@pytest.fixture
def tool(work: Path) -> Path:
    folder = work / "on the path"
    folder.mkdir()
    (folder / "tool").write_bytes(b"#!/bin/sh\n")
    script = folder / "tool.cmd"
    script.write_bytes(b"@echo off\r\necho [%~1] [%~2]\r\n")
    return script


def test_a_batch_file_gets_its_words_unbroken(hearth: Hearth, tool: Path) -> None:
    done = hearth("machine", "exec", str(tool), "one", "two words")
    assert (done.status, done.out.split("\r\n"), done.err) == (0, ["[one] [two words]", ""], "")


def test_a_name_is_found_by_path_and_pathext_and_the_file_is_told(runtime: Runtime, tool: Path) -> None:
    ended = run_program(runtime, RunProgram(command="tool", args=("x",), env={"Path": str(tool.parent)}))
    assert (ended.state, ended.stderr) == (State.COMPLETED, "")
    assert os.path.samefile(ended.program, tool)


def test_what_no_batch_file_can_be_given_is_told_as_not_run(hearth: Hearth, tool: Path) -> None:
    done = hearth("machine", "exec", "--json", str(tool), "a\nwhoami")
    assert (done.status, done.json["error"]["code"]) == (126, "unsafe_argument")


def test_a_script_is_told_with_the_program_that_runs_it(hearth: Hearth, work: Path) -> None:
    (work / "build.ps1").write_bytes(b"'hi'")
    done = hearth("machine", "exec", "--json", ".\\build.ps1")
    assert (done.status, done.json["error"]["code"]) == (126, "not_executable")
    assert "powershell" in done.json["error"]["hint"]


def test_a_console_program_is_read_in_the_code_page_of_consoles(runtime: Runtime) -> None:
    ended = run_program(runtime, RunProgram(command="cmd", args=("/d", "/c", "echo", "é")))
    assert (ended.stdout.strip(), ended.stdout_facts.encoding_note) == ("é", Note.CONSOLE)
    assert ended.stdout_facts.encoding == runtime.host.output_encoding()
    assert ended.stdout_facts.sha256 is not None, "the bytes themselves are kept"


def test_a_million_characters_of_words_are_told_as_too_long(hearth: Hearth) -> None:
    done = hearth("machine", "exec", "--json", sys.executable, "-c", "pass", "x" * 1_000_000)
    assert (done.status, done.json["error"]["code"]) == (126, "arguments_too_long")


def test_an_exit_code_of_32_bits_is_passed_on_whole(runtime: Runtime) -> None:
    end = f"import ctypes; ctypes.windll.kernel32.ExitProcess({ACCESS_VIOLATION})"
    ended = run_program(runtime, RunProgram(command=sys.executable, args=("-c", end)))
    assert (ended.state, ended.exit_code) == (State.FAILED, ACCESS_VIOLATION)
    words = [sys.executable, "-m", "hearth", "machine", "exec", sys.executable, "-c", end]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(words, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": root})
    assert (done.returncode, done.stderr) == (ACCESS_VIOLATION, b"")
