from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.containment import Root
from hearth.runtime import Runtime

Hearth = Callable[..., Any]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")


def call(runtime: Runtime, operation: str, **given: Any) -> Any:
    answer = dispatch.call_json(runtime, f"fs.{operation}", given)
    assert answer.error is None, answer.error
    return answer.result


def refused(runtime: Runtime, operation: str, **given: Any) -> Any:
    answer = dispatch.call_json(runtime, f"fs.{operation}", given)
    assert answer.error is not None
    return answer.error


def tree_of(folder: Path) -> dict[str, object]:
    """Every path with what it holds: content and mode of a file, target of a link."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else None)
    return found


def test_a_write_is_undone_and_redone(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"old\xff\r\n")
    receipt = hearth("fs", "write", "a", "--data", "new", "--json").json["receipt"]
    undone = hearth("fs", "undo", receipt, "--json").json
    assert (undone["state"], undone["receipts"], (work / "a").read_bytes()) == ("completed", [receipt], b"old\xff\r\n")
    assert hearth("fs", "redo", receipt).status == 0
    assert (work / "a").read_bytes() == b"new"
    assert hearth("fs", "undo", receipt).status == 0
    assert (work / "a").read_bytes() == b"old\xff\r\n"


def test_undo_of_a_new_file_removes_it_and_the_directories_made_for_it(work: Path, hearth: Hearth) -> None:
    hearth("fs", "write", "a/b/c", "--data", "x")
    assert hearth("fs", "undo", "--last").status == 0
    assert list(work.iterdir()) == []
    assert hearth("fs", "redo", "--last").status == 0
    assert (work / "a" / "b" / "c").read_bytes() == b"x"


def test_a_directory_that_somebody_else_uses_by_now_stays(work: Path, hearth: Hearth) -> None:
    hearth("fs", "write", "a/b/c", "--data", "x")
    (work / "a" / "other").write_bytes(b"kept")
    assert hearth("fs", "undo", "--last").status == 0
    assert tree_of(work).keys() == {"a", "a/other"}


def test_a_second_undo_is_superseded(work: Path, hearth: Hearth) -> None:
    receipt = hearth("fs", "write", "a", "--data", "x", "--json").json["receipt"]
    by = hearth("fs", "undo", receipt, "--json").json["receipt"]
    done = hearth("fs", "undo", receipt, "--json")
    assert (done.status, done.json["state"], done.json["undone_by"]) == (6, "superseded", by)
    assert done.json["undone_at"].endswith("Z") and not (work / "a").exists()


def test_a_file_changed_since_is_a_conflict_and_stays(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"old")
    receipt = hearth("fs", "write", "a", "--data", "new", "--json").json["receipt"]
    (work / "a").write_bytes(b"somebody else's")
    done = hearth("fs", "undo", receipt, "--json")
    assert (done.status, done.json["error"]["details"]["conflicts"][0]["path"]) == (3, str(work / "a"))
    assert (work / "a").read_bytes() == b"somebody else's"


def test_a_receipt_is_named_by_a_unique_beginning(work: Path, hearth: Hearth) -> None:
    receipt = hearth("fs", "write", "a", "--data", "x", "--json").json["receipt"]
    assert hearth("fs", "undo", receipt[:-4]).status == 0
    assert not (work / "a").exists()
    assert hearth("fs", "undo", "rec_00000000").status == 4


def test_an_ambiguous_beginning_is_refused(work: Path, hearth: Hearth) -> None:
    for data in ("1", "2"):
        hearth("fs", "write", "a", "--data", data)
    assert hearth("fs", "undo", "rec_", "--json").status == 2
    assert (work / "a").read_bytes() == b"2"


@pytest.mark.parametrize("words", [[], ["--last", "--group", "g"], ["rec_x", "--last"]])
def test_undo_wants_exactly_one_choice(hearth: Hearth, words: list[str]) -> None:
    assert hearth("fs", "undo", *words).status == 2


def ten_changes(runtime: Runtime, group: str) -> None:
    call(runtime, "write", path="old", data="second", group=group)
    call(runtime, "write", path="old", data="third", group=group)
    call(runtime, "write", path="new/dir/file", data="new", group=group)
    call(runtime, "write", path="log", data="two\n", append=True, group=group)
    call(runtime, "copy", path="tree", to="copied", recursive=True, group=group)
    call(runtime, "move", path="tree", to="moved", group=group)
    call(runtime, "write", path="moved/deep/file", data="changed after the move", group=group)
    call(runtime, "delete", path="copied", recursive=True, group=group)
    call(runtime, "mkdir", path="empty", group=group)
    call(runtime, "move", path="old", to="log", overwrite=True, group=group)


def test_ten_mixed_changes_of_one_group_are_undone_in_reverse_and_redone(work: Path, runtime: Runtime) -> None:
    (work / "log").write_bytes(b"one\n")
    (work / "tree" / "deep").mkdir(parents=True)
    (work / "tree" / "deep" / "file").write_bytes(b"in the tree")
    (work / "old").write_bytes(b"first")
    before = tree_of(work)
    ten_changes(runtime, "refactoring")
    after = tree_of(work)
    undone = call(runtime, "undo", group="refactoring")
    assert (len(undone.receipts), tree_of(work)) == (10, before)
    listed = call(runtime, "history", group="refactoring").receipts
    assert [each.id for each in listed if each.operation != "fs.undo"] == list(undone.receipts)
    call(runtime, "redo", group="refactoring")
    assert tree_of(work) == after
    call(runtime, "undo", group="refactoring")
    assert tree_of(work) == before


def test_a_conflict_in_a_group_names_every_file_and_undoes_nothing(work: Path, runtime: Runtime) -> None:
    for name in ("a", "b", "c"):
        call(runtime, "write", path=name, data="new", group="g")
    (work / "a").write_bytes(b"edited")
    (work / "c").unlink()
    before = tree_of(work)
    error = refused(runtime, "undo", group="g")
    assert error.code == "conflict"
    assert {Path(each["path"]).name for each in error.details["conflicts"]} == {"a", "c"}
    assert tree_of(work) == before


def test_a_conflict_that_shows_only_on_the_way_is_rolled_back(work: Path, runtime: Runtime) -> None:
    call(runtime, "write", path="a", data="one", group="g")
    (work / "a").write_bytes(b"by hand")
    call(runtime, "write", path="a", data="two", group="g")
    call(runtime, "write", path="b", data="other", group="g")
    before = tree_of(work)
    error = refused(runtime, "undo", group="g")
    assert error.code == "conflict", error
    assert tree_of(work) == before
    with runtime.store.read() as tx:
        assert tx.execute("SELECT count(*) FROM receipts").fetchone()[0] == 3


def test_the_run_of_a_call_is_its_group(work: Path, runtime: Runtime) -> None:
    call(runtime.for_call(group="run_1"), "write", path="a", data="x")
    call(runtime, "write", path="b", data="x")
    call(runtime, "undo", group="run_1")
    assert [path.name for path in work.iterdir()] == ["b"]


def test_a_dry_run_says_what_would_come_back(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"old")
    hearth("fs", "write", "a", "--data", "new")
    done = hearth("fs", "undo", "--last", "--dry-run", "--json").json
    assert (done["changes"], done["receipt"]) == ([{"path": str(work / "a"), "action": "restored"}], None)
    assert (work / "a").read_bytes() == b"new"


def test_undo_in_a_root_that_is_read_only_by_now_is_refused(work: Path, runtime: Runtime) -> None:
    receipt = call(runtime, "write", path="a", data="x").receipt
    narrowed = runtime.for_call(roots=(Root(str(work), read_only=True),))
    assert refused(narrowed, "undo", receipt=receipt).code == "read_only_root"
    assert (work / "a").read_bytes() == b"x"


@posix_only
def test_undo_through_a_directory_swapped_for_a_link_is_refused(work: Path, tmp_path: Path, runtime: Runtime) -> None:
    (work / "d").mkdir()
    (work / "d" / "a").write_bytes(b"old")
    receipt = call(runtime, "write", path="d/a", data="new").receipt
    (work / "d").rename(tmp_path / "outside")
    (work / "d").symlink_to(tmp_path / "outside")
    assert refused(runtime, "undo", receipt=receipt).code == "outside_root"
    assert (tmp_path / "outside" / "a").read_bytes() == b"new"


def test_an_append_is_cut_off_again(work: Path, hearth: Hearth) -> None:
    (work / "log").write_bytes(b"one\n")
    hearth("fs", "write", "log", "--append", "--data", "two\n")
    assert hearth("fs", "undo", "--last").status == 0
    assert (work / "log").read_bytes() == b"one\n"
    assert hearth("fs", "redo", "--last").status == 0
    assert (work / "log").read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("later", [b"ONE\ntwo\n", b"one\ntwo\nthree\n", b"one\n"])
def test_an_append_that_is_not_the_end_any_more_is_a_conflict(work: Path, hearth: Hearth, later: bytes) -> None:
    (work / "log").write_bytes(b"one\n")
    hearth("fs", "write", "log", "--append", "--data", "two\n")
    (work / "log").write_bytes(later)
    assert hearth("fs", "undo", "--last").status == 3
    assert (work / "log").read_bytes() == later


@posix_only
def test_the_execute_bit_comes_through_undo(work: Path, hearth: Hearth) -> None:
    (work / "s.sh").write_bytes(b"old")
    (work / "s.sh").chmod(0o755)
    hearth("fs", "write", "s.sh", "--data", "new")
    hearth("fs", "undo", "--last")
    assert stat.S_IMODE((work / "s.sh").stat().st_mode) == 0o755
    hearth("fs", "delete", "s.sh")
    hearth("fs", "undo", "--last")
    assert stat.S_IMODE((work / "s.sh").stat().st_mode) == 0o755


def test_large_old_content_comes_back_whole(work: Path, hearth: Hearth) -> None:
    data = bytes(range(256)) * 1024
    (work / "a").write_bytes(data)
    hearth("fs", "write", "a", "--data", "new")
    assert hearth("fs", "undo", "--last").status == 0
    assert (work / "a").read_bytes() == data


def test_a_backup_that_is_damaged_changes_nothing(work: Path, home: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(bytes(100_000))
    hearth("fs", "write", "a", "--data", "new")
    (body,) = [path for path in (home / "data" / "hearth" / "blobs").rglob("*") if path.is_file()]
    body.write_bytes(bytes(99_999) + b"x")
    assert hearth("fs", "undo", "--last", "--json").json["error"]["code"] == "backup_missing"
    assert (work / "a").read_bytes() == b"new"
    assert [path.name for path in work.iterdir()] == ["a"]


def test_a_redo_of_what_was_not_undone_is_refused(work: Path, hearth: Hearth) -> None:  # noqa: ARG001
    receipt = hearth("fs", "write", "a", "--data", "x", "--json").json["receipt"]
    assert hearth("fs", "redo", receipt).status == 2
    assert hearth("fs", "redo", "--last").status == 4


def test_the_last_change_is_the_last_one_below_the_roots(
    work: Path, tmp_path: Path, hearth: Callable[..., Any]
) -> None:
    other = tmp_path / "other project"
    other.mkdir()
    assert hearth("fs", "write", "here.txt", "--data", "here").status == 0
    assert hearth("fs", "write", other / "there.txt", "--data", "there", "--root", other).status == 0
    assert "here.txt" in hearth("fs", "diff").out
    assert hearth("fs", "undo", "--last").status == 0
    assert not (work / "here.txt").exists()
    assert (other / "there.txt").exists()
    assert hearth("fs", "undo", "--last").status == 4
    assert hearth("fs", "redo", "--last", "--root", other).status == 4
    assert hearth("fs", "redo", "--last").status == 0
    assert hearth("fs", "delete", "here.txt").status == 0
    for verb in ("undo", "redo", "undo"):  # what lies in the trash is the user's as well
        assert hearth("fs", verb, "--last").status == 0
    assert (work / "here.txt").exists()
