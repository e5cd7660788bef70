"""machine.which: the file behind a program's name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.marks import WINDOWS, posix_only

Hearth = Callable[..., Any]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two directories on PATH with a program of the same name."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text("#!/bin/sh\n", "utf-8")
        (tmp_path / name / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")]))
    return tmp_path


def test_a_path_is_answered_as_it_is(hearth: Hearth) -> None:
    done = hearth("machine", "which", sys.executable, "--json")
    assert done.json["programs"] == [{"name": sys.executable, "path": sys.executable}]


@posix_only("PATHEXT has a test of its own")
def test_the_first_on_path_that_can_be_run_is_it(hearth: Hearth, tools: Path) -> None:
    assert hearth("machine", "which", "tool").out == f"tool\t{tools / 'first' / 'tool'}\n"
    (tools / "first" / "tool").chmod(0o644)
    assert hearth("machine", "which", "tool").out == f"tool\t{tools / 'second' / 'tool'}\n"


@posix_only("permission bits")
def test_one_that_cannot_be_run_is_told_from_one_that_is_missing(hearth: Hearth, tools: Path) -> None:
    for name in ("first", "second"):
        (tools / name / "tool").chmod(0o644)
    codes = [hearth("machine", "which", name, "--json").json["error"]["code"] for name in ("tool", "none")]
    assert codes == ["not_executable", "program_not_found"]


def test_of_several_each_is_answered(hearth: Hearth) -> None:
    done = hearth("machine", "which", sys.executable, "no-such-program", "--json")
    assert (done.status, done.json["state"]) == (1, "partial")
    assert [error["name"] for error in done.json["errors"]] == ["no-such-program"]


def test_a_missing_program_lists_the_path_searched(hearth: Hearth, tools: Path) -> None:
    done = hearth("machine", "which", "no-such-program")
    assert done.status == 4
    assert str(tools / "first") in done.err
    assert WINDOWS or str(tools / "second") in done.err
