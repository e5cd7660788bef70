"""A directory that turns into a link, and back, while files in it are changed: nothing outside is ever touched."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.errors import InternalError
from tests.acceptance.dying import open_runtime
from tests.marks import needs_links
from tests.services.fs.test_undo import tree_of

SWAPS = 40_000
# A change may make `sub` anew in the moment in which there is none: that one goes.
SWAPPER = """
import os, shutil, sys
os.chdir(sys.argv[1])

def rename(old, new):
    while True:
        try:
            return os.rename(old, new)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)

for _ in range(int(sys.argv[2]) // 2):
    rename("sub", "aside"); rename("link", "sub")
    rename("sub", "link"); rename("aside", "sub")
"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("write", {"path": "sub/file", "data": "changed"}),
    ("write", {"path": "sub/file", "data": "added", "append": True}),
    ("write", {"path": "sub/made/new", "data": "new"}),
    ("undo", {"last": True}),
    ("copy", {"path": "sub/file", "to": "sub/copied"}),
    ("chmod", {"path": "sub/file", "mode": "600"}),
    ("delete", {"path": "sub/copied"}),
    ("move", {"path": "sub/made", "to": "sub/moved"}),
    ("delete", {"path": "sub/moved", "recursive": True, "permanent": True}),
    ("undo", {"last": True}),
    ("write", {"path": "sub/file", "data": "back"}),
]


@pytest.mark.slow
@needs_links
@pytest.mark.timeout(300)
def test_no_change_lands_outside_while_a_directory_is_swapped_for_a_link(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    for name in ("file", "copied"):
        (root / "sub" / name).write_bytes(b"inside")
        (outside / name).write_bytes(b"outside")
    (root / "link").symlink_to(outside)
    untouched = tree_of(outside)
    runtime = open_runtime(tmp_path, sync=False)
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(root), str(SWAPS)])
    seen: Counter[str] = Counter()
    tracebacks: list[str] = []
    try:
        for operation, given in cycle(CALLS):
            if swapper.poll() is not None:
                break
            answer = dispatch.call_json(runtime, f"fs.{operation}", given)
            seen[answer.error.code if answer.error else "done"] += 1
            if isinstance(answer.error, InternalError):
                tracebacks.append(Path(answer.error.details["file"]).read_text(encoding="utf-8"))
    finally:
        swapper.kill()
        swapper.wait()
        runtime.close()
    assert swapper.returncode == 0
    assert tree_of(outside) == untouched
    # Both states were met, or the test has shown nothing.
    assert seen["done"] and seen["outside_root"], seen
    assert not tracebacks, "\n".join(tracebacks)
