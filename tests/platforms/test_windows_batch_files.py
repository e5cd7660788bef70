"""Batch files with real ones: their words are text, and nothing else runs."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

import ast
import os
from pathlib import Path

from hearth.errors import InvalidName, UnsafeArgument
from hearth.platforms import windows_processes as processes
from hearth.platforms import windows_programs as programs
from hearth.platforms.processes import Launch, Launcher
from tests.platforms.test_windows_processes import SHOW, run


@pytest.fixture
def tool(work: Path) -> Path:
    """Shows its arguments as Python gets them by %*, and as its own line by echo."""
    folder = work / "my tools & more"
    folder.mkdir()
    script = folder / "tool.cmd"
    shown = SHOW.replace('"', "'")
    script.write_bytes(f'@echo off\r\n"{sys.executable}" -c "{shown}" %*\r\necho [%1]\r\n'.encode("ascii"))
    return script


def started(tool: Path, *words: str) -> Launch:
    return Launch(str(tool), ("tool", *words), os.getcwd(), dict(os.environ))


def test_words_arrive_one_with_a_space_unbroken(launcher: Launcher, tool: Path) -> None:
    words = ["plain", "one two", "C:\\a\\b", "--flag=x", "k:v"]
    ending, out, err = run(launcher, started(tool, *words))
    assert (ending.exit.code, err) == (0, b"")
    shown, echoed = out.decode("ascii").splitlines()
    assert (ast.literal_eval(shown), echoed) == (words, "[plain]")


@pytest.mark.parametrize("word", ["a&calc", "^", "!PATH!", "a|b", "<x>", "(x)", "a^&b", "x=y", "a,b;c", "&&exit 7"])
def test_what_cmd_would_act_on_is_text(launcher: Launcher, tool: Path, word: str) -> None:
    ending, out, err = run(launcher, started(tool, word))
    assert (ending.exit.code, err) == (0, b"")
    shown, echoed = out.decode("ascii").splitlines()
    assert (ast.literal_eval(shown), echoed) == ([word], f'["{word}"]')


def test_nothing_else_runs_whatever_the_words_hold(launcher: Launcher, tool: Path, work: Path) -> None:
    for word in ('"&echo x>stolen', '"&echo x>stolen&"', '\\"&echo x>stolen', "a&echo x>stolen", "|echo x>stolen"):
        run(launcher, started(tool, word))
        run(launcher, started(tool, word, word))
    assert [file.name for file in work.iterdir()] == [tool.parent.name]


@pytest.mark.parametrize("word", ["%PATH%", '"&whoami', "100%", "%", "%%", "%cd:~,%"])
def test_percent_signs_and_quotes_are_text(launcher: Launcher, tool: Path, word: str) -> None:
    ending, out, err = run(launcher, started(tool, word))
    assert (ending.exit.code, err) == (0, b"")
    assert ast.literal_eval(out.decode("ascii").splitlines()[0]) == [word]


def test_a_line_break_is_refused(launcher: Launcher, tool: Path) -> None:
    with pytest.raises(UnsafeArgument):
        launcher.launch(started(tool, "a\nwhoami"))


def test_a_directory_of_a_share_is_refused_since_cmd_would_work_elsewhere(tool: Path) -> None:
    with pytest.raises(InvalidName):
        processes.command(started(tool)._replace(directory="\\\\srv\\share"))


def test_its_exit_code_comes_back(launcher: Launcher, work: Path) -> None:
    script = work / "fail.bat"
    script.write_bytes(b"@exit /b 3\r\n")
    assert run(launcher, started(script))[0].exit.code == 3


def test_it_is_run_by_the_system_whatever_comspec_says(tool: Path) -> None:
    program, _ = processes.command(started(tool)._replace(environment={"COMSPEC": "C:\\evil.exe"}))
    assert program.lower().endswith("\\system32\\cmd.exe") and os.path.isfile(program)


def test_it_is_found_by_pathext(launcher: Launcher, tool: Path) -> None:
    environment = {"PATH": str(tool.parent)}
    found = programs.find_program("tool", environment, os.getcwd(), os.path.isfile)
    assert os.path.samefile(found, tool)
    assert run(launcher, started(Path(found), "x"))[0].exit.code == 0
