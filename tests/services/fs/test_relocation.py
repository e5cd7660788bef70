from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.containment import Root
from hearth.platforms.base import Directory
from hearth.runtime import Runtime
from hearth.settings import FsSettings, Settings
from tests.marks import needs_links
from tests.services.fs.test_undo import call, refused, tree_of

Hearth = Callable[..., Any]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and special files of POSIX")


@pytest.fixture
def tree(work: Path) -> Path:
    (work / "tree" / "deep").mkdir(parents=True)
    (work / "tree" / "deep" / "file").write_bytes(b"content")
    (work / "tree" / "empty").mkdir()
    return work


def test_mkdir_makes_one_directory_and_with_parents_the_way_to_it(work: Path, hearth: Hearth) -> None:
    assert hearth("fs", "mkdir", "a").status == 0
    assert hearth("fs", "mkdir", "b/c").status == 4
    assert hearth("fs", "mkdir", "-p", "b/c").status == 0
    assert hearth("fs", "mkdir", "a").status == 3
    assert hearth("fs", "mkdir", "-p", "a", "--json").json["created"] is False
    assert tree_of(work).keys() == {"a", "b", "b/c"}
    assert hearth("fs", "undo", "--last").status == 0
    assert tree_of(work).keys() == {"a"}


def test_a_directory_that_was_filled_since_is_a_conflict_with_its_name(work: Path, runtime: Runtime) -> None:
    call(runtime, "mkdir", path="d/e", parents=True)
    (work / "d" / "e" / "file").write_bytes(b"x")
    error = refused(runtime, "undo", last=True)
    assert (error.code, error.exit_status) == ("conflict", 3) and "--recursive" not in (error.hint or "")
    assert [Path(each["path"]).name for each in error.details["conflicts"]] == ["e"]
    assert (work / "d" / "e" / "file").exists()


def test_what_stands_in_the_way_comes_with_the_way_round_it(work: Path, runtime: Runtime) -> None:
    for name in ("a", "b"):
        (work / name).write_bytes(b"x")
        (work / f"d{name}").mkdir()
    assert "--overwrite" in refused(runtime, "move", path="a", to="b").hint
    for operation, given in (
        ("move", {"path": "a", "to": "da"}),
        ("move", {"path": "da", "to": "db"}),
        ("copy", {"path": "da", "to": "db", "recursive": True}),
    ):
        assert "with /" in refused(runtime, operation, **given).hint
    assert refused(runtime, "move", path="da", to="a").hint is None


def test_move_renames_and_undo_moves_back(tree: Path, hearth: Hearth) -> None:
    before = tree_of(tree)
    assert hearth("fs", "move", "tree", "moved").status == 0
    assert (tree / "moved" / "deep" / "file").read_bytes() == b"content"
    assert hearth("fs", "undo", "--last").status == 0
    assert tree_of(tree) == before


@needs_links
def test_a_parent_that_is_a_link_for_a_moment_fails_no_move(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "sub" / "made").mkdir(parents=True)
    (work / "other").symlink_to("nowhere")
    lstat, readlink = os.lstat, os.readlink
    looks: list[str] = []

    def swap() -> None:
        for old, new in (("sub", "aside"), ("other", "sub"), ("aside", "other")):
            os.rename(work / old, work / new)

    def seen(path: str, **options: Any) -> os.stat_result:
        if os.path.basename(path) == "sub" and not looks:
            looks.append("lstat")
            swap()
        return lstat(path, **options)

    def read(path: str, **options: Any) -> str:
        if os.path.basename(path) == "sub":
            looks.append("readlink")
            swap()
        return readlink(path, **options)

    monkeypatch.setattr(os, "lstat", seen)
    monkeypatch.setattr(os, "readlink", read)
    call(runtime, "move", path="sub/made", to="sub/moved")
    assert looks == ["lstat", "readlink"]
    assert tree_of(work).keys() == {"other", "sub", "sub/moved"}


def test_move_into_a_directory_is_asked_for_by_a_slash(tree: Path, hearth: Hearth) -> None:
    (tree / "a").write_bytes(b"")
    assert hearth("fs", "move", "a", "tree").status == 3
    assert hearth("fs", "move", "a", "tree/").status == 0
    assert (tree / "tree" / "a").exists()


def test_move_never_overwrites_unasked(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"a")
    (work / "b").write_bytes(b"b")
    assert hearth("fs", "move", "a", "b").status == 3
    done = hearth("fs", "move", "a", "b", "--overwrite", "--json").json
    assert (done["overwritten"], (work / "b").read_bytes()) == (True, b"a")
    hearth("fs", "undo", "--last")
    assert ((work / "a").read_bytes(), (work / "b").read_bytes()) == (b"a", b"b")


def test_a_directory_is_not_moved_or_copied_into_itself(tree: Path, hearth: Hearth) -> None:
    before = tree_of(tree)
    assert hearth("fs", "move", "tree", "tree/deep/x").status == 2
    assert hearth("fs", "copy", "-r", "tree", "tree/deep/x").status == 2
    assert tree_of(tree) == before


def test_a_root_and_what_holds_one_stay(tree: Path, runtime: Runtime) -> None:
    assert refused(runtime, "delete", path=".", recursive=True).code in ("holds_root", "invalid_input")
    inner = runtime.for_call(roots=(Root(str(tree)), Root(str(tree / "tree" / "deep"), read_only=True)))
    assert refused(inner, "move", path="tree", to="moved").code == "holds_root"
    assert refused(inner, "delete", path="tree", recursive=True, permanent=True).code == "holds_root"
    assert (tree / "tree" / "deep" / "file").exists()


def test_a_copy_is_equal_and_undo_removes_it(tree: Path, hearth: Hearth) -> None:
    before = tree_of(tree)
    assert hearth("fs", "copy", "tree", "copied").status == 1
    done = hearth("fs", "copy", "-r", "tree", "copied", "--json").json
    assert (done["entries"], done["size"]) == (4, 7)
    copied = {name: found for name, found in tree_of(tree).items() if name.startswith("copied")}
    assert copied == {name.replace("tree", "copied", 1): found for name, found in before.items()}
    hearth("fs", "undo", "--last")
    assert tree_of(tree) == before


def test_a_copy_that_was_changed_is_not_undone(tree: Path, hearth: Hearth) -> None:
    hearth("fs", "copy", "-r", "tree", "copied")
    (tree / "copied" / "deep" / "file").write_bytes(b"more content")
    assert hearth("fs", "undo", "--last").status == 3
    assert (tree / "copied" / "deep" / "file").read_bytes() == b"more content"


@posix_only
def test_a_copy_keeps_links_as_links_and_refuses_special_files(tree: Path, hearth: Hearth) -> None:
    (tree / "tree" / "link").symlink_to("/etc/passwd")
    hearth("fs", "copy", "-r", "tree", "copied")
    assert os.readlink(tree / "copied" / "link") == "/etc/passwd"
    os.mkfifo(tree / "tree" / "pipe")
    before = tree_of(tree)
    assert hearth("fs", "copy", "-r", "tree", "second", "--json").json["error"]["code"] == "not_regular"
    assert tree_of(tree) == before


def test_the_data_directory_stays_out_of_a_copy(work: Path, runtime: Runtime) -> None:
    (work / "project").mkdir()
    inside = Runtime(
        host=runtime.host,
        settings=runtime.settings,
        data_dir=str(work / "project" / ".hearth"),
        roots=runtime.roots,
        base=runtime.base,
    )
    try:
        call(inside, "write", path="project/a", data="x")
        call(inside, "copy", path="project", to="copied", recursive=True)
        assert [path.name for path in (work / "copied").iterdir()] == ["a"]
        assert refused(inside, "delete", path="project", recursive=True).code == "holds_root"
    finally:
        inside.close()


def test_a_copied_file_keeps_its_mode_and_overwrites_only_when_asked(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"a")
    (work / "a").chmod(0o755)
    (work / "b").write_bytes(b"b")
    assert hearth("fs", "copy", "a", "b").status == 3
    assert hearth("fs", "copy", "a", "c").status == 0
    assert (work / "c").stat().st_mode == (work / "a").stat().st_mode
    assert hearth("fs", "copy", "a", "b", "--overwrite").status == 0
    hearth("fs", "undo", "--last")
    assert (work / "b").read_bytes() == b"b"


def test_a_deleted_file_comes_back(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"content")
    done = hearth("fs", "delete", "a", "--json").json
    assert (done["kind"], done["entries"], done["size"]) == ("file", 1, 7)
    assert list(work.iterdir()) == []
    assert hearth("fs", "undo", done["receipt"]).status == 0
    assert (work / "a").read_bytes() == b"content"


def test_a_tree_is_deleted_only_when_asked_and_comes_back_whole(tree: Path, hearth: Hearth) -> None:
    before = tree_of(tree)
    done = hearth("fs", "delete", "tree", "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "not_empty")
    assert hearth("fs", "delete", "-r", "tree", "--json").json["entries"] == 4
    assert list(tree.iterdir()) == []
    assert hearth("fs", "undo", "--last").status == 0
    assert tree_of(tree) == before


@posix_only
def test_delete_of_a_link_leaves_its_target(work: Path, hearth: Hearth) -> None:
    (work / "real").write_bytes(b"x")
    (work / "link").symlink_to("real")
    assert hearth("fs", "delete", "link").status == 0
    assert [path.name for path in work.iterdir()] == ["real"]
    hearth("fs", "undo", "--last")
    assert os.readlink(work / "link") == "real"


def test_delete_with_a_wrong_hash_is_a_conflict(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"x")
    assert hearth("fs", "delete", "a", "--expected-sha256", "0" * 64).status == 3
    assert (work / "a").exists()


@pytest.mark.parametrize("what", ["file", "tree"])
def test_above_the_backup_bound_only_a_permanent_delete_is_possible(work: Path, runtime: Runtime, what: str) -> None:
    runtime = runtime.for_call(settings=Settings(fs=FsSettings(backup_max_bytes=10)))
    (work / "tree").mkdir()
    (work / "tree" / "file").write_bytes(bytes(11))
    path = "tree" if what == "tree" else "tree/file"
    error = refused(runtime, "delete", path=path, recursive=True)
    assert (error.code, "--permanent" in error.hint) == ("backup_too_large", True)
    done = call(runtime, "delete", path=path, recursive=True, permanent=True)
    assert not (work / path).exists()
    assert refused(runtime, "undo", receipt=done.receipt).code == "backup_missing"


def test_a_dry_run_of_each_changes_nothing(tree: Path, home: Path, runtime: Runtime) -> None:
    before = tree_of(tree)
    assert call(runtime, "delete", path="tree", recursive=True, dry_run=True).entries == 4
    assert call(runtime, "delete", path="tree", recursive=True, permanent=True, dry_run=True).receipt is None
    assert call(runtime, "move", path="tree", to="x/y", parents=True, dry_run=True).to.endswith("y")
    assert call(runtime, "copy", path="tree", to="x", recursive=True, dry_run=True).entries == 4
    assert call(runtime, "mkdir", path="x", dry_run=True).created is True
    assert call(runtime, "chmod", path="tree", mode="700", dry_run=True).receipt is None
    assert tree_of(tree) == before
    assert not (home / "data" / "hearth" / "trash").exists()


@pytest.fixture
def other_volume(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renames between two directories are refused, as between file systems."""
    kind = type(runtime.host.open_root(runtime.base))
    real = kind.rename

    def rename(self: Directory, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        if self.identity != to.identity:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(self, name, to, new_name, replace=replace)

    monkeypatch.setattr(kind, "rename", rename)


@pytest.mark.usefixtures("other_volume")
def test_moves_across_volumes_copy_then_remove_and_can_be_undone(tree: Path, runtime: Runtime) -> None:
    before = tree_of(tree)
    (tree / "other").mkdir()
    call(runtime, "move", path="tree", to="other/moved")
    assert not (tree / "tree").exists()
    assert (tree / "other" / "moved" / "deep" / "file").read_bytes() == b"content"
    call(runtime, "undo", last=True)
    (tree / "other").rmdir()
    assert tree_of(tree) == before


@pytest.mark.usefixtures("other_volume")
def test_deletes_on_another_volume_than_the_data_can_be_undone(tree: Path, runtime: Runtime) -> None:
    before = tree_of(tree)
    call(runtime, "delete", path="tree", recursive=True)
    assert list(tree.iterdir()) == []
    call(runtime, "undo", last=True)
    assert tree_of(tree) == before


@posix_only
@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ("600", 0o644, 0o600),
        ("u+x", 0o644, 0o744),
        ("go-rwx,u=rw", 0o755, 0o600),
        ("a+X", 0o744, 0o755),
        ("+t", 0o755, 0o1755),
    ],
)
def test_chmod_sets_bits_and_undo_sets_the_old_ones(
    work: Path, runtime: Runtime, words: str, before: int, after: int
) -> None:
    (work / "a").write_bytes(b"")
    (work / "a").chmod(before)
    done = call(runtime, "chmod", path="a", mode=words)
    assert (done.mode, (work / "a").stat().st_mode & 0o7777) == (f"{after:04o}", after)
    call(runtime, "undo", last=True)
    assert (work / "a").stat().st_mode & 0o7777 == before


@posix_only
def test_a_mode_set_by_somebody_else_since_is_a_conflict(work: Path, runtime: Runtime) -> None:
    (work / "a").write_bytes(b"")
    (work / "a").chmod(0o644)
    call(runtime, "chmod", path="a", mode="600")
    (work / "a").chmod(0o640)
    assert refused(runtime, "undo", last=True).code == "conflict"


@pytest.mark.parametrize("words", ["888", "u+q", "", "12345", "u", "a+x,", "x=3"])
def test_words_that_are_no_mode_are_refused(work: Path, runtime: Runtime, words: str) -> None:
    (work / "a").write_bytes(b"")
    answer = dispatch.call_json(runtime, "fs.chmod", {"path": "a", "mode": words})
    assert answer.error is not None and answer.error.code == "invalid_input"


@pytest.mark.parametrize("operation", ["mkdir", "move", "copy", "delete", "chmod", "write"])
def test_nothing_changes_in_a_read_only_root(work: Path, runtime: Runtime, operation: str) -> None:
    (work / "a").write_bytes(b"")
    narrowed = runtime.for_call(roots=(Root(str(work), read_only=True),))
    given = {
        "mkdir": {"path": "d"},
        "move": {"path": "a", "to": "b"},
        "copy": {"path": "a", "to": "b"},
        "delete": {"path": "a"},
        "chmod": {"path": "a", "mode": "600"},
        "write": {"path": "a", "data": "x"},
    }
    before = tree_of(work)
    assert refused(narrowed, operation, **given[operation]).code == "read_only_root"
    assert tree_of(work) == before
