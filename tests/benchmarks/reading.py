"""Reading parts of a file that is far larger than the memory to spare."""

from __future__ import annotations

import os
from pathlib import Path

from tests.benchmarks.measure import Row, interleaved, limit
from tests.benchmarks.setting import Setting

SIZE = 8 * 2**30
MOST_MS, MOST_MIB = 300.0, 64.0


def reading(setting: Setting) -> list[Row]:
    make_sparse(setting.folder / "huge.txt")
    series = interleaved(
        {
            "range": setting.hearth("fs", "read", "huge.txt", "--offset", str(SIZE // 2), "--limit", "4096", "--json"),
            "tail": setting.hearth("fs", "read", "huge.txt", "--tail", "10"),
        },
        setting.rounds,
    )
    return [
        row
        for name, measured in series.items()
        for row in (
            limit(_what(name), measured, of="wall_ms", most=MOST_MS, to_reach="< 300 ms"),
            limit(_what(name), measured, of="cpu_ms", most=MOST_MS, to_reach="< 300 ms"),
            limit(_what(name), measured, of="rss_bytes", most=MOST_MIB, to_reach="< 64 MiB"),
        )
    ]


def _what(name: str) -> str:
    return f"`fs read`, a {name} of an 8 GiB sparse file"


def make_sparse(path: Path) -> None:
    """Eight GiB with text in the middle and at the end, and holes elsewhere."""
    text = b"".join(b"line %d of the text\n" % number for number in range(2_000))
    with open(path, "wb") as file:
        file.truncate(SIZE)
        file.seek(SIZE // 2)
        file.write(text)
        file.seek(-len(text), os.SEEK_END)
        file.write(text)
