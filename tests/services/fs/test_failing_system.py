"""Whatever the system refuses, at whichever of its calls: the answer says it in words, and all or nothing was done."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.runtime import Runtime
from tests.acceptance.dying import open_runtime
from tests.marks import posix_only
from tests.privilege import bound_by_modes
from tests.services.fs.test_undo import call, refused, tree_of

Call = tuple[str, dict[str, Any]]
ACTS = (
    *("open", "stat", "lstat", "fstat", "readlink", "scandir", "listdir", "read", "write", "lseek", "ftruncate"),
    *("fsync", "dup", "mkdir", "rmdir", "unlink", "rename", "replace", "link", "symlink", "fchmod", "utime"),
)
DIFF = """\
diff --git a/file b/renamed
rename from file
rename to renamed
--- a/file
+++ b/renamed
@@ -1 +1 @@
-inside
+outside
--- /dev/null
+++ b/new/one
@@ -0,0 +1 @@
+made
diff --git a/small b/small
deleted file mode 100644
--- a/small
+++ /dev/null
@@ -1 +0,0 @@
-small
"""
LAST: Call = ("undo", {"last": True})
# What comes before the last call of a row only prepares for it.
ROWS: tuple[tuple[Call, ...], ...] = (
    (("write", {"path": "link", "data": "new"}),),
    (("write", {"path": "a/b/new", "data": "new"}),),
    (("write", {"path": "file", "from_file": "small", "encoding": "utf-16-le"}),),
    (("write", {"path": "file", "from_file": "small", "append": True}),),
    (("write", {"path": "file", "append": True}),),
    (("chmod", {"path": "file", "mode": "600"}),),
    (("copy", {"path": "tree", "to": "x/copied", "recursive": True, "parents": True}),),
    (("copy", {"path": "file", "to": "small", "overwrite": True}),),
    (("move", {"path": "tree", "to": "p/q/", "parents": True}),),
    (("delete", {"path": "empty"}),),
    (("delete", {"path": "tree", "recursive": True, "permanent": True}),),
    (("patch", {"path": "file", "old": "inside", "new": "x"}),),
    (("patch", {"diff": DIFF}),),
    (("write", {"path": "a/b", "data": "n"}), LAST),
    (("write", {"path": "large", "data": "n"}), LAST),
    (("write", {"path": "file", "data": "n", "append": True}), LAST),
    (("move", {"path": "file", "to": "large", "overwrite": True}), LAST),
    (("delete", {"path": "tree", "recursive": True}), LAST),
    (("delete", {"path": "tree", "recursive": True}), LAST, ("redo", {"last": True})),
    (("patch", {"diff": DIFF}), LAST),
    (("write", {"path": "file", "data": "n"}), ("history", {"path": "file"})),
    (("write", {"path": "file", "data": "n"}), ("diff", {})),
    (("delete", {"path": "file"}), ("diff", {})),
)


class Refusal:
    """Lets one call of the system fail, counted from when it is armed."""

    def __init__(self) -> None:
        self.left = 0
        self.refused: str | None = None

    def around(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.refused = name
                named = [each for each in args[:1] if isinstance(each, str)]
                raise OSError(errno.EIO, os.strerror(errno.EIO), *named)
            return act(*args, **options)

        return counted

    def arm(self, steps: int) -> None:
        self.left, self.refused = steps, None


def furnish(work: Path) -> None:
    (work / "tree" / "deep").mkdir(parents=True)
    (work / "tree" / "deep" / "file").write_bytes(b"deep")
    (work / "tree" / "link").symlink_to("deep")
    (work / "empty").mkdir()
    (work / "link").symlink_to("file")
    (work / "file").write_bytes(b"inside\n")
    (work / "small").write_bytes(b"small\n")
    (work / "large").write_bytes(bytes(100_000))


class Input(io.BytesIO):
    """A standard input that is read through `os`, so that reading it may fail."""

    def read(self, size: int | None = -1, /) -> bytes:
        os.stat(os.curdir)
        return super().read(size)


@posix_only("the calls of POSIX")
@pytest.mark.timeout(60)  # a hundred changes and more in each
@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(f"{name} {given}" for name, given in row)[:70])
@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "each"])
def test_any_call_of_the_system_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: tuple[Call, ...], stride: int
) -> None:
    refusal = Refusal()
    for name in ACTS:
        monkeypatch.setattr(os, name, refusal.around(name, getattr(os, name)))
    for steps in range(1 + ROWS.index(row) % stride, 1_000, stride):
        folder = tmp_path / str(steps)
        furnish(folder / "work")
        runtime = open_runtime(folder, sync=False)
        for operation, given in row[:-1]:
            call(runtime, operation, **given)
        before = tree_of(folder / "work")
        refusal.arm(steps)
        operation, given = row[-1]
        answer = dispatch.call_json(runtime.for_call(stdin=Input(b"from the input")), f"fs.{operation}", given)
        refusal.left = 0
        runtime.close()
        if answer.error is not None:
            assert answer.error.code != "internal_error", (refusal.refused, answer.error.message)
            assert tree_of(folder / "work") == before, (refusal.refused, answer.error.message)
        if refusal.refused is None:
            assert answer.error is None
            return
    raise AssertionError("the call never got through")


def test_a_directory_that_may_not_be_listed_is_not_deleted_and_says_why(work: Path, runtime: Runtime) -> None:
    (work / "closed").mkdir()
    with bound_by_modes():
        (work / "closed").chmod(0)
        try:
            error = refused(runtime, "delete", path="closed")
        finally:
            (work / "closed").chmod(0o700)
    assert (error.code, error.details["path"]) == ("permission_denied", str(work / "closed"))


@posix_only("the calls of POSIX")
@pytest.mark.parametrize("append", [False, True])
def test_a_file_whose_close_finds_no_room_stays_as_it_was(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, append: bool
) -> None:
    (work / "a").write_bytes(b"old")
    call(runtime, "write", path="first", data="opens the store")
    before = tree_of(work)
    close = os.close
    told: list[int] = []

    def closed(descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        close(descriptor)
        if not told and size == len("old" * append + "some words"):
            told.append(size)  # as network file systems tell what they could not store
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", closed)
    error = refused(runtime, "write", path="a", data="some words", append=append)
    monkeypatch.undo()
    assert (error.code, error.details["path"]) == ("no_space", str(work / "a"))
    assert tree_of(work) == before and len(call(runtime, "history").receipts) == 1


def test_a_journal_that_another_process_sweeps_first_fails_no_change(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Path(runtime.data_dir) / "temporary" / "4194303-1"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"")
    started = runtime.host.process_start

    def swept(pid: int) -> str | None:
        if pid == 4194303:
            journal.unlink()
        return started(pid)

    monkeypatch.setattr(runtime.host, "process_start", swept)
    call(runtime, "write", path="a", data="x")
    assert (work / "a").read_bytes() == b"x" and not journal.exists()
