from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hearth.errors import Cancelled, NotFound
from hearth.runtime import Runtime
from hearth.services.fs.watch import Change, WatchTree, stream, watch

needs_depth = pytest.mark.skipif("WINELAB" in os.environ, reason="Wine tells only of the folder that is watched itself")


@contextmanager
def touching(*paths: Path) -> Iterator[None]:
    """Write to files again and again, since nobody tells when a watcher is ready."""
    done = threading.Event()

    def touch() -> None:
        number = 0
        while not done.wait(0.02):
            number += 1
            for path in paths:
                path.write_bytes(b"%d" % number)

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def names(changes: tuple[Change, ...]) -> set[str]:
    return {Path(each.path).as_posix() for each in changes}


@needs_depth
def test_a_change_is_told_with_a_usable_path(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "src").mkdir()
    with touching(work / "src" / "a.py"):
        answer = hearth("fs", "watch", "--count", "1", "--timeout", "4s", "--json").json
    assert [(each["path"], each["kind"]) for each in answer["changes"]] == [(str(Path("src/a.py")), "file")]
    assert (answer["changes"][0]["change"] in ("added", "modified"), answer["stopped"]) == (True, "count")


def test_at_the_shell_changes_are_lines_as_they_come(work: Path, hearth: Callable[..., Any]) -> None:
    with touching(work / "a"):
        lines = hearth("fs", "watch", "-n", "1", "--timeout", "4s", "--ndjson").lines
    assert (lines[0]["path"], lines[-1]["end"]) == ("a", True)


@needs_depth
def test_what_is_hidden_ignored_or_not_asked_for_is_not_told(work: Path, runtime: Runtime) -> None:
    (work / ".gitignore").write_text("*.o\nout/\n", encoding="utf-8")
    for folder in (".git", "out", "src"):
        (work / folder).mkdir()
    paths = [work / each for each in (".env", ".git/index", "a.o", "out/x", "src/a.md", "src/a.py")]
    with touching(*paths):
        seen = watch(runtime, WatchTree(globs=("*.py",), count=2, timeout_ms=4_000))
    assert names(seen.changes) == {"src/a.py"}
    with touching(*paths):
        seen = watch(runtime, WatchTree(count=4, timeout_ms=4_000))
    assert names(seen.changes) <= {"src/a.md", "src/a.py", "src"}


def test_one_file_can_be_watched(work: Path, runtime: Runtime) -> None:
    (work / "a").write_bytes(b"")
    with touching(work / "a", work / "b"):
        seen = watch(runtime, WatchTree(path="a", count=2, timeout_ms=4_000))
    assert names(seen.changes) == {"a"}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege, and Wine has none")
def test_nothing_behind_a_link_is_told(work: Path, runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (work / "link").symlink_to(tmp_path / "outside")
    with touching(tmp_path / "outside" / "secret", work / "inside"):
        seen = watch(runtime, WatchTree(count=3, timeout_ms=4_000))
    assert names(seen.changes) == {"inside"}


def test_hearths_own_data_is_not_told(work: Path, runtime: Runtime) -> None:
    (work / "own").mkdir()
    own = runtime.for_call(data_dir=str(work / "own"))
    with touching(work / "own" / "x", work / "y"):
        seen = watch(own, WatchTree(count=2, timeout_ms=4_000))
    assert names(seen.changes) == {"y"}


def test_a_watch_ends_with_its_time(work: Path, runtime: Runtime) -> None:
    seen = watch(runtime, WatchTree(timeout_ms=50))
    assert (seen.changes, seen.stopped, seen.state, seen.path) == ((), "time", "completed", str(work))


def test_a_cancelled_watch_ends(runtime: Runtime) -> None:
    timer = threading.Timer(0.05, runtime.cancelled.set)
    timer.start()
    with pytest.raises(Cancelled):
        list(stream(runtime, WatchTree()))
    timer.join()


def test_what_is_not_there_cannot_be_watched(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        watch(runtime, WatchTree(path="gone"))
