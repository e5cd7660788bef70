"""Writing a small file with its receipt, against the same write in plain Python that nobody could undo."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.benchmarks.measure import Row, Sample, compare, interleaved
from tests.benchmarks.session import Session, session
from tests.benchmarks.setting import Setting

SIZE = 4096
A_ROUND = 30  # writes a round


def writing(setting: Setting) -> list[Row]:
    rows: list[Row] = []
    for sync, most in ((True, 2.0), (False, 4.0)):
        with session(setting.folder / f"sync-{sync}", sync=sync) as opened:
            rows += [_row(setting, opened, fresh=fresh, sync=sync, most=most) for fresh in (False, True)]
    return rows


def _row(setting: Setting, opened: Session, *, fresh: bool, sync: bool, most: float) -> Row:
    rival = opened.work.parent / "plain"
    rival.mkdir(exist_ok=True)
    writer = Writer(opened, rival, fresh=fresh, sync=sync)
    series = interleaved({"hearth": writer.hearth, "plain": writer.plain}, setting.rounds * A_ROUND, warm_up=20)
    what = "a new file" if fresh else "over a file"
    return compare(
        f"`fs write` 4 KiB, {what}, with receipt, {'synced' if sync else 'unsynced'}",
        "write + fsync + rename + fsync of the directory" if sync else "write + rename",
        series["hearth"],
        series["plain"],
        most=most,
        of="wall_ms",
    )


class Writer:
    """Writes file after file, new ones or the same few again, both ways."""

    def __init__(self, opened: Session, rival: Path, *, fresh: bool, sync: bool) -> None:
        self._session, self._rival, self._fresh, self._sync = opened, rival, fresh, sync
        self._count = 0

    def hearth(self) -> Sample:
        self._count += 1
        return self._session.timed("fs.write", path=self._name(), data=self._content())

    def plain(self) -> Sample:
        path, content = self._rival / self._name(), self._content().encode()
        cpu, wall = time.process_time(), time.perf_counter()
        write_plainly(path, content, sync=self._sync)
        return Sample((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)

    def _name(self) -> str:
        return f"new-{self._count}.txt" if self._fresh else f"old-{self._count % 10}.txt"

    def _content(self) -> str:
        return f"{self._count:08}".ljust(SIZE - 1, "x") + "\n"


def write_plainly(path: Path, content: bytes, *, sync: bool) -> None:
    """Replace a file by a temporary one beside it."""
    temporary = f"{path}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        os.write(descriptor, content)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)
    if sync and os.name == "posix":
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
