"""Thousands of calls in one process, against the same work in a few lines of Python."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.benchmarks.measure import Row, Series, compare, interleaved, limit
from tests.benchmarks.setting import Setting

CALLS = 2_000
PEER = """
import json, os, sys
for number in range(int(sys.argv[1])):
    found = os.stat(f"batch/{number % 100}.txt")
    print(json.dumps({"path": f"batch/{number % 100}.txt", "size": found.st_size, "mode": found.st_mode}))
"""


def batch(setting: Setting) -> list[Row]:
    (setting.folder / "batch").mkdir()
    for number in range(100):
        (setting.folder / "batch" / f"{number}.txt").write_bytes(b"x" * number)
    requests = [
        {"id": number, "operation": "fs.stat", "input": {"path": f"batch/{number % 100}.txt"}}
        for number in range(CALLS)
    ]
    stdin = "".join(json.dumps(request) + "\n" for request in requests).encode()
    series = interleaved(
        {
            "hearth": setting.hearth("call", "--batch", stdin=stdin),
            "python": setting.python(PEER, str(CALLS)),
        },
        setting.rounds,
    )
    what = f"`hearth call --batch` of {CALLS:,} fs.stat"
    return [
        limit(f"{what}, a call", _a_call(series["hearth"]), of="cpu_ms", most=0.3, to_reach="under 0.3 ms a call"),
        compare(
            f"{what}, whole",
            f"{CALLS:,} os.stat + json.dumps",
            series["hearth"],
            series["python"],
            most=float("inf"),
            to_reach="told only",
        ),
    ]


def _a_call(series: Series) -> Series:
    """The time of one call, with its share of the start-up."""
    return Series(tuple(replace(s, wall_ms=s.wall_ms / CALLS, cpu_ms=s.cpu_ms / CALLS) for s in series.samples))
