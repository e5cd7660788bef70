from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli.completion.command import Shell, script_of
from hearth.runtime import Runtime
from hearth.store.ids import starting_with
from tests.marks import WINDOWS

Hearth = Callable[..., Any]


def test_show_prints_the_script_and_nothing_else(hearth: Hearth) -> None:
    assert hearth("completion", "show", "bash").out == script_of(Shell.BASH)


def test_install_writes_where_the_shell_looks_and_says_what_is_left(hearth: Hearth, home: Path) -> None:
    done = hearth("completion", "install", "--shell", "fish", "--json")
    path = home / "config" / "fish" / "completions" / "hearth.fish"
    assert (done.status, done.json["path"]) == (0, str(path))
    assert path.read_text("ascii") == script_of(Shell.FISH)


def test_install_takes_the_shell_that_the_environment_names(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    done = hearth("completion", "install", "--json")
    assert done.json["shell"] == "zsh"
    assert "fpath" in done.json["next_step"]


@pytest.mark.skipif(os.name == "nt", reason="PowerShell is the answer there")
def test_install_for_an_unknown_shell_asks_for_the_shell(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert hearth("completion", "install").status == 2


def test_install_where_nothing_can_be_written_is_an_error_with_the_path(hearth: Hearth, home: Path) -> None:
    (home / "config").write_bytes(b"")
    done = hearth("completion", "install", "--shell", "fish", "--json")
    assert done.status == (4 if WINDOWS else 1)  # Windows says not found of what would lie below a file
    assert "config" in done.json["error"]["message"]


def test_ids_of_a_data_directory_that_is_not_there_are_none_and_make_nothing(hearth: Hearth, home: Path) -> None:
    assert hearth("__complete", "receipt", "rcp_").out == ""
    assert not (home / "data").exists()


def test_ids_of_an_unknown_kind_are_none(runtime: Runtime) -> None:
    assert runtime.store.path
    assert starting_with(runtime.data_dir, "unicorn", "", 5) == []


def test_ids_are_the_newest_that_begin_so(work: Path, hearth: Hearth) -> None:  # noqa: ARG001
    made = [hearth("fs", "write", "a.txt", "--data", text, "--json").json["receipt"] for text in ("one", "two")]
    assert hearth("__complete", "receipt").out.split() == made[::-1]
    assert hearth("__complete", "receipt", made[0]).out.split() == [made[0]]
    assert hearth("__complete", "receipt", "rec_zzz").out == ""


def test_a_damaged_database_completes_nothing_and_says_nothing(hearth: Hearth, home: Path) -> None:
    hearth("fs", "write", "a.txt", "--data", "one")
    database = home / "data" / "hearth" / "hearth.sqlite3"
    for path in database.parent.glob("hearth.sqlite3-*"):
        path.unlink()
    database.write_bytes(b"no database" * 1000)
    done = hearth("__complete", "receipt", "rec_")
    assert (done.status, done.out, done.err) == (0, "", "")
