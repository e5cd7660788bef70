"""Processes that share a data directory and a file."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.dying import open_runtime

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run_writers(folder: Path, names: list[str], count: int) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.writer", str(folder), name, str(count)], stdin=subprocess.PIPE
        )
        for name in names
    ]
    for writer in writers:
        writer.communicate(b"x", timeout=200)
    assert [writer.returncode for writer in writers] == [0] * len(names)


@pytest.mark.parametrize(("writers", "count"), [(2, 100), (8, 20)])
def test_processes_that_change_one_file_lose_nothing(tmp_path: Path, writers: int, count: int) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "shared").write_bytes(b"")
    names = [f"writer-{number}" for number in range(writers)]
    run_writers(tmp_path, names, count)
    lines = (tmp_path / "work" / "shared").read_text(encoding="ascii").splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in names for number in range(count))
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["shared"]
    runtime = open_runtime(tmp_path)
    with runtime.store.read() as tx:
        rows = tx.execute("SELECT seq, id, state FROM receipts").fetchall()
        chain = tx.execute("SELECT before_sha256, after_sha256 FROM changes ORDER BY receipt").fetchall()
    runtime.close()
    assert len({row["id"] for row in rows}) == len({row["seq"] for row in rows}) == writers * count
    assert {row["state"] for row in rows} == {"applied"}
    # Every change began with what the one before it left.
    assert all(later[0] == earlier[1] for earlier, later in pairwise(chain))
