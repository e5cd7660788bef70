from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.answers import Answer
from hearth.runtime import Runtime
from tests.services.fs.test_unified_diff import by_difflib

Hearth = Callable[..., Any]

SEVERAL = """\
diff --git a/changed.txt b/changed.txt
index 1..2 100644
--- a/changed.txt
+++ b/changed.txt
@@ -1,2 +1,2 @@
 a
-b
+B
diff --git a/old.txt b/dir/renamed.txt
similarity index 50%
rename from old.txt
rename to dir/renamed.txt
--- a/old.txt
+++ b/dir/renamed.txt
@@ -1 +1 @@
-old
+new
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/sub/made.sh b/sub/made.sh
new file mode 100755
--- /dev/null
+++ b/sub/made.sh
@@ -0,0 +1 @@
+echo
\\ No newline at end of file
"""


@pytest.fixture
def files(work: Path) -> Path:
    (work / "changed.txt").write_bytes(b"a\r\nb\r\n")
    (work / "old.txt").write_bytes(b"old\n")
    (work / "gone.txt").write_bytes(b"gone\n")
    return work


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def patch(runtime: Runtime, **given: Any) -> Answer:
    return dispatch.call_json(runtime, "fs.patch", given)


def test_a_diff_changes_makes_renames_and_removes_files_in_one_receipt(files: Path, hearth: Hearth) -> None:
    done = hearth("fs", "patch", "--diff", "-", "--json", stdin=SEVERAL.encode())
    assert done.status == 0, done.json
    assert tree(files) == {"changed.txt": b"a\r\nB\r\n", "dir/renamed.txt": b"new\n", "sub/made.sh": b"echo"}
    told = done.json
    assert [each["change"] for each in told["files"]] == ["changed", "renamed", "removed", "made"]
    assert [Path(each["path"]).name for each in told["files"]] == ["changed.txt", "renamed.txt", "gone.txt", "made.sh"]
    assert told["files"][1]["renamed_from"] == str(files / "old.txt")
    assert told["files"][3]["sha256"] == hashlib.sha256(b"echo").hexdigest()
    assert (told["path"], told["replacements"], told["receipt"][:4]) == (None, 4, "rec_")
    if sys.platform != "win32":
        assert (files / "sub" / "made.sh").stat().st_mode & 0o777 == 0o755


def test_a_file_that_was_renamed_and_changed_comes_back_when_the_next_one_does_not_match(
    work: Path, hearth: Hearth
) -> None:
    for name in ("one", "two"):
        (work / name).write_bytes(name.encode() + b"\n")
    before = tree(work)
    renaming = "diff --git a/{0} b/new-{0}\nrename from {0}\nrename to new-{0}\n"
    part = renaming + "--- a/{0}\n+++ b/new-{0}\n@@ -1 +1 @@\n-{1}\n+x\n"
    words = part.format("one", "one") + part.format("two", "another")
    done = hearth("fs", "patch", "--diff", "-", "--json", stdin=words.encode())
    assert (done.status, done.json["error"]["code"]) == (3, "conflict")
    assert tree(work) == before
    assert hearth("fs", "history", "--json").json["receipts"] == []


def test_a_diff_is_undone_as_a_whole(files: Path, hearth: Hearth) -> None:
    before = tree(files)
    assert hearth("fs", "patch", "--diff", "-", stdin=SEVERAL.encode()).status == 0
    after = tree(files)
    assert hearth("fs", "undo", "--last").status == 0
    assert tree(files) == before
    assert hearth("fs", "redo", "--last").status == 0
    assert tree(files) == after


def test_a_dry_run_of_a_diff_changes_nothing_and_tells_the_same(files: Path, hearth: Hearth) -> None:
    before = tree(files)
    dry = hearth("fs", "patch", "--diff", "-", "--dry-run", "--json", stdin=SEVERAL.encode()).json
    assert tree(files) == before
    done = hearth("fs", "patch", "--diff", "-", "--json", stdin=SEVERAL.encode()).json
    assert dry["diff"] == done["diff"]
    assert dry["receipt"] is None
    assert [each["change"] for each in dry["files"]] == [each["change"] for each in done["files"]]


@pytest.mark.parametrize("broken", ["changed.txt", "old.txt", "gone.txt"])
def test_when_one_file_does_not_fit_none_is_changed(files: Path, runtime: Runtime, broken: str) -> None:
    (files / broken).write_bytes(b"something else\n")
    before = tree(files)
    answer = patch(runtime, diff=SEVERAL)
    assert answer.state == "conflict"
    assert tree(files) == before
    assert not (files / "dir").exists()


def test_what_stands_there_is_not_overwritten(files: Path, runtime: Runtime) -> None:
    (files / "sub").mkdir()
    (files / "sub" / "made.sh").write_bytes(b"mine")
    before = tree(files)
    answer = patch(runtime, diff=SEVERAL)
    assert answer.error is not None
    assert answer.error.code == "already_exists"
    assert tree(files) == before


def test_the_diff_that_a_patch_tells_can_be_applied(files: Path, runtime: Runtime) -> None:
    told = patch(runtime, path="changed.txt", old="b", new="x\n\ny", dry_run=True).result.diff
    assert patch(runtime, diff=told).error is None
    assert (files / "changed.txt").read_bytes() == b"a\r\nx\r\n\r\ny\r\n"


def test_a_path_names_the_file_of_a_diff(files: Path, runtime: Runtime) -> None:
    diff = by_difflib("old\n", "new\n")
    assert patch(runtime, path="old.txt", diff=diff).error is None
    assert patch(runtime, path="gone.txt", diff="@@ -1 +1 @@\n-gone\n+here\n").error is None
    assert (files / "old.txt").read_bytes() + (files / "gone.txt").read_bytes() == b"new\nhere\n"
    answer = patch(runtime, path="old.txt", diff=SEVERAL)
    assert answer.error is not None
    assert answer.error.code == "invalid_input"


def test_a_moved_hunk_is_reported(files: Path, runtime: Runtime) -> None:
    (files / "old.txt").write_bytes(b"1\n2\nold\n")
    result = patch(runtime, path="old.txt", diff=by_difflib("old\n", "new\n")).result
    assert [(each.line, each.offset, each.fuzz) for each in result.moved_hunks] == [(3, 2, 0)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_diff_is_read_from_a_file_as_shells_write_it(files: Path, hearth: Hearth, encoding: str) -> None:
    diff = "--- a/old.txt\r\n+++ b/old.txt\r\n@@ -1 +1 @@\r\n-old\r\n+néw\r\n"
    (files / "c.diff").write_bytes(diff.encode(encoding))
    assert hearth("fs", "patch", "--diff", "@c.diff").status == 0
    assert (files / "old.txt").read_bytes() == "néw\n".encode()


def test_a_diff_of_another_encoding_keeps_its_bytes(files: Path, hearth: Hearth) -> None:
    (files / "old.txt").write_bytes("Größe\nold\n".encode("latin-1"))
    diff = "--- a/old.txt\n+++ b/old.txt\n@@ -2 +2 @@\n-old\n+new\n"
    assert hearth("fs", "patch", "--diff", diff).status == 0
    assert (files / "old.txt").read_bytes() == "Größe\nnew\n".encode("latin-1")


def test_a_diff_in_a_code_page_is_taken_by_its_bytes(files: Path, hearth: Hearth) -> None:
    old, new = ("Größe\ncafé\n".encode("latin-1"), "Größe\nthé à la menthe ñ\n".encode("latin-1"))
    (files / "old.txt").write_bytes(old)
    diff = by_difflib(old.decode("latin-1"), new.decode("latin-1")).encode("latin-1").replace(b"/f", b"/old.txt")
    (files / "c.diff").write_bytes(diff)
    done = hearth("fs", "patch", "--diff", "@c.diff", "--json")
    assert done.status == 0, done.json
    assert (files / "old.txt").read_bytes() == new


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_git_writes_is_applied_exactly(work: Path, hearth: Hearth, tmp_path: Path) -> None:
    numbers = "".join(f"{n}\n" for n in range(60))
    old = {"a b.txt": numbers, "ü/ñ.txt": "x\r\ny\n", "gone.txt": "-- \n--- a\n", "was.txt": numbers, "same": "s"}
    new = {
        "a b.txt": numbers.replace("9\n", "nine\n"),
        "ü/ñ.txt": "x\ny\r\nz",
        'q"\t.txt': "+++ b\n",
        "dir/is now.txt": numbers.replace("30\n", ""),
        "same": "s",
        "empty": "",
    }
    repository = tmp_path / "repository"
    for number, contents in enumerate((old, new)):
        if number:
            for name in old:
                (repository / name).unlink()
        for name, content in contents.items():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_bytes(content.encode())
        if not number:
            shutil.copytree(repository, work, dirs_exist_ok=True)
            git(repository, "init", "-q")
        git(repository, "-c", "core.autocrlf=false", "add", "-A")
        if not number:
            git(repository, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
    diff = git(repository, "diff", "--cached", "-M")
    assert b"rename from was.txt" in diff
    done = hearth("fs", "patch", "--diff", "-", "--json", stdin=diff)
    assert done.status == 0, done.json
    assert tree(work) == {name: content.encode() for name, content in new.items()}


def git(folder: Path, *words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, timeout=20, check=True)
    return done.stdout


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "C:/out.txt", "a/../../out.txt"])
def test_a_diff_never_names_files_outside(files: Path, runtime: Runtime, name: str) -> None:
    before = tree(files.parent)
    answer = patch(runtime, diff=f"--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n")
    assert answer.error is not None
    assert answer.error.code == "invalid_input"
    assert {name for name in tree(files.parent) if "home/" not in name} == {n for n in before if "home/" not in n}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_diff_does_not_leave_the_root_through_a_link(files: Path, runtime: Runtime) -> None:
    outside = files.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"a\n")
    (files / "link").symlink_to(outside)
    answer = patch(runtime, diff="--- a/link/f\n+++ b/link/f\n@@ -1 +1 @@\n-a\n+b\n")
    assert answer.error is not None
    assert answer.error.code == "outside_root"
    assert (outside / "f").read_bytes() == b"a\n"


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_git_s_mode_change_sets_the_one_permission_that_git_knows(files: Path, runtime: Runtime) -> None:
    (files / "old.txt").chmod(0o640)
    diff = "diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 100755\n"
    assert patch(runtime, diff=diff).error is None
    assert (files / "old.txt").stat().st_mode & 0o777 == 0o750


def test_an_empty_file_is_made_and_removed(files: Path, runtime: Runtime) -> None:
    made = "diff --git a/e.txt b/e.txt\nnew file mode 100644\nindex 0000000..e69de29\n"
    removed = "diff --git a/e.txt b/e.txt\ndeleted file mode 100644\nindex e69de29..0000000\n"
    assert patch(runtime, diff=made).error is None
    assert (files / "e.txt").read_bytes() == b""
    assert patch(runtime, diff=removed).error is None
    assert not (files / "e.txt").exists()
    assert patch(runtime, diff=removed.replace("e.txt", "old.txt")).state == "conflict"
