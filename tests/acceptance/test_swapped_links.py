"""A directory that turns into a link, and back, while it is used: nothing outside is ever read or made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hearth.containment import Containment, Root
from hearth.errors import HearthError
from hearth.platforms.local import local_host
from tests.marks import needs_links

SWAPS = 100_000

SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(int(sys.argv[2]) // 2):
    os.rename("sub", "aside"); os.rename("link", "sub")
    os.rename("sub", "link"); os.rename("aside", "sub")
"""


@pytest.mark.slow
@needs_links
@pytest.mark.timeout(300)
def test_no_read_or_write_lands_outside_while_a_directory_is_swapped_for_a_link(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "sub" / "file").write_bytes(b"inside")
    (outside / "file").write_bytes(b"outside")
    (root / "link").symlink_to(outside)
    inside = Containment(local_host(), [Root(str(root))], base=str(root))
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(root), str(SWAPS)])
    seen: dict[str, int] = {}
    try:
        while swapper.poll() is None:
            for outcome in (_read(inside), _make(inside)):
                seen[outcome] = seen.get(outcome, 0) + 1
    finally:
        swapper.kill()
        swapper.wait()
    assert swapper.returncode == 0
    assert "outside" not in seen, seen
    assert [path.name for path in outside.iterdir()] == ["file"]
    # Both states were met, or the test has shown nothing.
    assert seen.get("inside"), seen
    assert seen.get("outside_root"), seen


def _read(inside: Containment) -> str:
    try:
        with inside.locate("sub/file") as place:
            descriptor = place.open_file()
        with open(descriptor, "rb") as file:
            return file.read().decode("ascii")
    except HearthError as error:
        return error.code


def _make(inside: Containment) -> str:
    try:
        with inside.locate("sub/made", write=True) as place:
            os.close(place.directory.create_file(place.name))
            place.directory.remove_file(place.name)
            return "made"
    except HearthError as error:
        return error.code
    except FileExistsError:
        return "taken"
