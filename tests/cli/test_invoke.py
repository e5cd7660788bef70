from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli.invoke import open_runtime
from hearth.cli.options import Globals
from hearth.errors import InvalidInput, NoRoots, SettingError
from hearth.runtime import Caller

Hearth = Callable[..., Any]


def test_a_relative_path_of_a_client_starts_at_the_root(
    work: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "notes").mkdir()
    (work / "notes" / "a.md").write_bytes(b"")
    monkeypatch.chdir(home)
    with open_runtime(Globals(roots=[str(work)]), Caller.MCP).containment.locate("notes/a.md") as place:
        assert Path(place.path) == work / "notes" / "a.md"


def test_a_relative_path_of_the_shell_starts_where_the_person_stands(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "a.md").write_bytes(b"")
    monkeypatch.chdir(work / "sub")
    with open_runtime(Globals(roots=[str(work)])).containment.locate("a.md") as place:
        assert Path(place.path) == work / "sub" / "a.md"


def test_a_client_without_any_root_is_told_how_to_add_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with pytest.raises(NoRoots) as refused:
        open_runtime(Globals(), Caller.MCP).containment.locate("a.md")
    assert "hearth config roots --add" in str(refused.value.hint)


def test_without_a_terminal_a_client_gets_no_implied_root(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert open_runtime(Globals(), Caller.MCP).roots == ()
    assert [root.path for root in open_runtime(Globals()).roots] == [str(work)]


def test_an_empty_root_is_no_root(work: Path) -> None:  # noqa: ARG001
    with pytest.raises(InvalidInput):
        open_runtime(Globals(roots=[""]))


def test_wrong_settings_stop_a_call_unless_it_is_lenient(work: Path) -> None:
    (work / "hearth.toml").write_text("nonsense = 1\n", "utf-8")
    with pytest.raises(SettingError, match="nonsense is not a setting"):
        open_runtime(Globals())
    assert open_runtime(Globals(), lenient=True).config is not None


def test_a_call_by_json_knows_the_settings_too(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 1\n", "utf-8")
    done = hearth("call", "fs.stat", '{"path": "."}')
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the current directory from being removed")
def test_a_removed_current_directory_is_named(hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "gone").mkdir()
    monkeypatch.chdir(work / "gone")
    (work / "gone").rmdir()
    done = hearth("fs", "stat", "a", "--json")
    monkeypatch.chdir(work)
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")
