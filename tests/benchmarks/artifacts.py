"""Searching one large artifact, against ripgrep's own program on the same bytes."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.benchmarks.measure import Command, Row, Series, compare, interleaved, limit
from tests.benchmarks.search import WORDS, ripgrep
from tests.benchmarks.setting import Setting

SIZE = 1 << 30
NEEDLES = {"a literal": "needle_in_hay", "a literal of frequent letters": "hay at last"}


def artifacts(setting: Setting) -> list[Row]:
    file = setting.folder / "large.log"
    make_log(file)
    put = setting.hearth("artifact", "put", "large.log", "--json").output()
    name = json.loads(put)["artifact"]["id"]
    rows: list[Row] = []
    for what, needle in NEEDLES.items():
        series = interleaved(
            {
                "hearth": setting.hearth("artifact", "search", name, needle, "--json"),
                "rg": Command((ripgrep(), "--fixed-strings", "--byte-offset", "--only-matching", needle, str(file))),
                "start": setting.hearth("artifact", "metadata", name, "--json"),
            },
            max(3, setting.rounds // 2),
        )
        label = f"`artifact search` of {what} in 1 GiB"
        rows += [_row(label, series, of) for of in ("cpu_ms", "wall_ms")]
        rows += [limit(label, series["hearth"], of="rss_bytes", most=64, to_reach="64 MiB")]
    return rows


def _row(label: str, series: dict[str, Series], of: str) -> Row:
    start = series["start"].median(of)
    return compare(
        label,
        "`rg` itself",
        series["hearth"],
        series["rg"],
        most=3,
        of=of,
        less=start,
        to_reach="3 times plus start-up",
        note=f"start-up {start:.0f} ms",
    )


def make_log(file: Path) -> None:
    """A GiB of lines of words, with one needle at its end."""
    chance = random.Random(7)
    block = "".join(" ".join(chance.choices(WORDS, k=12)) + "\n" for _ in range(20_000)).encode("ascii")
    with open(file, "wb") as out:
        out.writelines(block for _ in range(SIZE // len(block)))
        out.write(b"here is the needle_in_hay at last\n")
