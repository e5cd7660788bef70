from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli.invoke import open_runtime
from hearth.cli.options import Globals
from hearth.errors import ReadOnlyRoot
from hearth.platforms.local import local_host

Hearth = Callable[..., Any]


def roots_of(done: Any) -> list[tuple[str, bool]]:
    return [(root["path"], root["read_only"]) for root in done.json["roots"]]


def test_without_a_setting_the_current_directory_is_listed(hearth: Hearth, work: Path) -> None:
    done = hearth("config", "roots", "--json")
    assert roots_of(done) == [(str(work), False)]
    assert done.json["origin"] == "default"


def test_a_root_is_added_and_then_accepted(hearth: Hearth, home: Path) -> None:
    (home / "a.txt").write_bytes(b"")
    refused = hearth("fs", "stat", home / "a.txt", "--json").json["error"]
    assert refused["code"] == "outside_root"
    assert f"hearth config roots --add {home}" in refused["hint"]
    assert hearth("config", "roots", "--add", home).status == 0
    assert hearth("fs", "stat", home / "a.txt").status == 0


def test_the_hint_for_a_directory_outside_names_it_and_not_all_that_is_beside_it(hearth: Hearth, home: Path) -> None:
    (home / "notes").mkdir()
    for word in ("list", "stat"):
        refused = hearth("fs", word, home / "notes", "--json").json["error"]
        assert f"hearth config roots --add {home / 'notes'}`" in refused["hint"]


def test_the_first_root_replaces_the_implied_one_with_a_notice(hearth: Hearth, work: Path, home: Path) -> None:
    done = hearth("config", "roots", "--add", home, "--json")
    assert "the current directory is no longer a root" in done.err
    done = hearth("config", "roots", "--add", ".", "--json")
    assert roots_of(done) == [(str(home), False), (str(work), False)]


def test_a_root_added_again_changes_its_mode(hearth: Hearth, home: Path) -> None:
    hearth("config", "roots", "--add", home)
    assert roots_of(hearth("config", "roots", "--add", home, "--read-only", "--json")) == [(str(home), True)]


def test_a_root_is_removed_by_any_spelling(hearth: Hearth, work: Path, home: Path) -> None:
    hearth("config", "roots", "--add", home, "--add", ".")
    assert roots_of(hearth("config", "roots", "--remove", home / "x" / "..", "--json")) == [(str(work), False)]
    done = hearth("config", "roots", "--remove", ".", "--json")
    assert (roots_of(done), done.json["origin"]) == ([(str(work), False)], "default")


def test_a_root_that_is_none_cannot_be_removed(hearth: Hearth, home: Path) -> None:
    assert hearth("config", "roots", "--remove", home).status == 4


def test_a_directory_that_does_not_exist_cannot_be_added(hearth: Hearth, work: Path) -> None:
    done = hearth("config", "roots", "--add", "missing", "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "missing_root")
    (work / "file").write_bytes(b"")
    assert hearth("config", "roots", "--add", "file").status == 1


def test_a_project_names_its_roots_relative_to_itself(hearth: Hearth, work: Path) -> None:
    (work / "src").mkdir()
    assert hearth("config", "roots", "--add", "src", "--add", ".", "--project").status == 0
    text = (work / "hearth.toml").read_text("utf-8")
    assert 'path = "src"' in text and 'path = "."' in text


def test_roots_of_the_user_stay_when_a_project_adds_one(hearth: Hearth, work: Path, home: Path) -> None:
    hearth("config", "roots", "--add", home, "--user")
    done = hearth("config", "roots", "--add", ".", "--project", "--json")
    assert roots_of(done) == [(str(home), False), (str(work), False)]


def test_a_root_in_an_untrusted_project_is_told_to_be_without_effect(hearth: Hearth, work: Path, home: Path) -> None:
    (work / "hearth.toml").write_text("# from a clone\n", "utf-8")
    done = hearth("config", "roots", "--add", home, "--json")
    assert "is not in force" in done.err
    assert roots_of(done) == [(str(work), False)]


def test_read_only_needs_a_directory(hearth: Hearth) -> None:
    assert hearth("config", "roots", "--read-only").status == 2


def test_a_read_only_root_can_be_read_and_not_written(hearth: Hearth, work: Path) -> None:
    (work / "a").write_bytes(b"")
    hearth("config", "roots", "--add", ".", "--read-only")
    assert hearth("fs", "stat", "a").status == 0
    with pytest.raises(ReadOnlyRoot):
        open_runtime(Globals()).containment.locate("b", write=True)


@pytest.mark.skipif(sys.platform == "win32", reason="the emulated Windows has no symbolic links")
def test_both_spellings_of_a_root_are_shown_and_accepted(hearth: Hearth, work: Path, home: Path) -> None:
    (home / "a").write_bytes(b"")
    (work / "link").symlink_to(home)
    done = hearth("config", "roots", "--root", "link", "--json").json["roots"][0]
    assert (done["path"], done["real_path"]) == (str(work / "link"), local_host().real_path(str(home)))
    assert hearth("fs", "stat", work / "link" / "a", "--root", "link").status == 0
    assert hearth("fs", "stat", home / "a", "--root", "link").status == 0


def test_an_empty_root_is_refused(hearth: Hearth) -> None:
    assert hearth("fs", "stat", ".", "--root", "").status == 2


def test_the_users_own_settings_are_out_of_reach(hearth: Hearth, home: Path, user_file: Path) -> None:
    user_file.write_text("", "utf-8")
    done = hearth("fs", "stat", user_file, "--root", home, "--json")
    assert done.json["error"]["code"] == "outside_root"
