from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.roots import implied_roots, is_broad, resolve
from hearth.runtime import Caller
from hearth.settings import RootSetting

SYSTEM = (
    ["C:\\", "C:\\Windows", "c:\\windows\\System32", "C:\\Program Files\\x", "C:\\Users"]
    if sys.platform == "win32"
    else ["/", "/usr", "/usr/bin"]
)


def test_at_the_shell_the_current_directory_is_the_root(home: Path, work: Path) -> None:
    for here in (work, home):
        assert implied_roots(local_host(), str(here), Caller.SHELL) == (Root(str(here)),)


@pytest.mark.parametrize("here", SYSTEM)
def test_a_server_never_implies_a_system_folder(here: str) -> None:
    assert implied_roots(local_host(), here, Caller.MCP) == ()


def test_a_server_never_implies_the_home_directory_or_one_above(home: Path) -> None:
    for here in (home, *home.parents):
        assert implied_roots(local_host(), str(here), Caller.MCP) == ()


def test_a_server_implies_a_project_when_started_from_a_terminal(work: Path) -> None:
    assert implied_roots(local_host(), str(work), Caller.MCP) == (Root(str(work)),)
    assert implied_roots(local_host(), str(work), Caller.MCP, at_terminal=False) == ()


def test_a_folder_below_home_is_not_broad(home: Path) -> None:
    assert not is_broad(local_host(), str(home / "project"))


def test_a_root_named_twice_is_read_only_where_one_says_so(work: Path) -> None:
    path = str(work)
    twice = (RootSetting(path=path), RootSetting(path=path, read_only=True), RootSetting(path=path))
    assert resolve(twice) == (Root(path, True),)
