"""kill -9 at every step of a change: afterwards all of its files are old or all are new, and the receipt says which."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.services.fs import recovery
from tests.acceptance import dying
from tests.services.fs.test_undo import tree_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MOST_STEPS = 200
LONG = "long " * 30_000
RENAMING = """\
diff --git a/old b/renamed
rename from old
rename to renamed
--- a/old
+++ b/renamed
@@ -1 +1 @@
-old
\\ No newline at end of file
+new
--- /dev/null
+++ b/another
@@ -0,0 +1 @@
+made
"""
SCENARIOS: dict[str, list[list[Any]]] = {
    "write": [["fs.write", {"path": "old", "data": "new"}]],
    "write a large one": [["fs.write", {"path": "large", "data": LONG}]],
    "make with parents": [["fs.write", {"path": "x/y/z", "data": "new"}]],
    "write in place": [["fs.write", {"path": "linked", "data": "short"}]],
    "append": [["fs.write", {"path": "old", "data": LONG, "append": True}]],
    "move over a file": [["fs.move", {"path": "old", "to": "large", "overwrite": True}]],
    "copy a tree": [["fs.copy", {"path": "tree", "to": "copied", "recursive": True}]],
    "delete a tree": [["fs.delete", {"path": "tree", "recursive": True}]],
    "delete for good": [["fs.delete", {"path": "tree", "recursive": True, "permanent": True}]],
    "chmod": [["fs.chmod", {"path": "old", "mode": "600" if os.name == "posix" else "444"}]],
    "rename and edit": [["fs.patch", {"diff": RENAMING}]],
    "undo of three": [
        ["fs.write", {"path": "old", "data": "1", "group": "g"}],
        ["fs.write", {"path": "n/new", "data": "2", "group": "g"}],
        ["fs.move", {"path": "tree", "to": "moved", "group": "g"}],
        ["fs.undo", {"group": "g"}],
    ],
}


def furnish(folder: Path) -> None:
    work = folder / "work"
    (work / "tree" / "deep").mkdir(parents=True)
    (work / "tree" / "deep" / "file").write_bytes(b"in the tree")
    (work / "tree" / "second").write_bytes(b"also")
    (work / "old").write_bytes(b"old")
    (work / "large").write_bytes(bytes(200_000))
    (work / "linked").write_bytes(b"a linked file" * 10_000)
    os.link(work / "linked", work / "other name")


def die(steps: int, calls: list[list[Any]], folder: Path) -> bool:
    """Whether the process was killed before it was done."""
    command = [sys.executable, "-m", "tests.acceptance.dying", str(steps), str(folder)]
    # The calls come on standard input: one is too long for a word.
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, input=json.dumps(calls).encode())
    if done.returncode == 0:
        return False
    assert not done.stderr, done.stderr.decode("utf-8", "replace")
    return True


@pytest.mark.parametrize("calls", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_a_change_is_whole_or_not_at_all_wherever_its_process_dies(tmp_path: Path, calls: list[list[Any]]) -> None:
    outcomes = set()
    for steps in range(1, MOST_STEPS):
        folder = tmp_path / str(steps)
        furnish(folder)
        before = before_last(calls, folder)
        killed = die(steps, calls, folder)
        outcomes.add(settle_and_check(folder, calls, before))
        if not killed:
            break
    else:
        raise AssertionError("the change never got through")
    assert outcomes == {"old", "new"}


def before_last(calls: list[list[Any]], folder: Path) -> dict[str, object]:
    """The tree as it is just before the call that is killed, which a twin tells."""
    if len(calls) == 1:
        return tree_of(folder / "work")
    twin = folder / "twin"
    furnish(twin)
    runtime = dying.open_runtime(twin)
    for operation, given in calls[:-1]:
        assert dispatch.call_json(runtime, operation, given).error is None
    runtime.close()
    return tree_of(twin / "work")


def settle_and_check(folder: Path, calls: list[list[Any]], before: dict[str, object]) -> str:
    """Which of the two it is, after recovery in another process; the receipt must agree, and nothing be left over."""
    runtime = dying.open_runtime(folder, in_place=True)
    try:
        recovery.settle(runtime)
        tree = tree_of(folder / "work")
        with runtime.store.read() as tx:
            rows = tx.execute(
                "SELECT state FROM receipts WHERE operation = ? AND (:undo = 0 OR undoes IS NOT NULL)",
                (calls[-1][0], int(calls[-1][0] == "fs.undo")),
            ).fetchall()
        states = {row["state"] for row in rows} or {"void"}
        assert len(states) == 1 and states <= {"applied", "void"}, states
        assert not [name for name in tree if ".hearth-" in name], tree.keys()
        if states == {"void"}:
            assert tree == before
            return "old"
        assert tree != before
        check_undo(runtime, calls, folder, before)
        return "new"
    finally:
        runtime.close()


def check_undo(runtime: Any, calls: list[list[Any]], folder: Path, before: dict[str, object]) -> None:
    """What is recorded as done can be taken back, unless that was not wanted."""
    operation, given = calls[-1]
    if given.get("permanent"):
        return
    answer = dispatch.call_json(runtime, "fs.redo" if operation == "fs.undo" else "fs.undo", {"last": True})
    assert answer.error is None, answer.error
    assert tree_of(folder / "work") == before
