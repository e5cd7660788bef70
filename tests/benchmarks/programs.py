"""Running programs: what hearth adds to each, and what it does with floods and deaf trees."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from hearth import identifiers
from tests.benchmarks.measure import Command, CommandFailed, Row, Sample, Series, compare, interleaved, limit
from tests.benchmarks.session import Session, session
from tests.benchmarks.setting import Setting

TIMES = 500
FLOOD_BYTES = 2**30
TREE = 50
TIMEOUT_MS, GRACE_MS = 1_000, 300
LINE = b"one line of the output of a program that prints a lot, number %09d\n"


def programs(setting: Setting) -> list[Row]:
    if sys.platform == "win32":
        return []  # `true`, `cat` and `sh` are the measure
    return [*_small(setting), *_start(setting), *_flood(setting), _deaf_tree(setting)]


def _small(setting: Setting) -> list[Row]:
    with session(setting.folder / "small", sync=False) as opened:
        series = interleaved(
            {"hearth": lambda: opened.timed("machine.exec", command="/bin/true"), "subprocess": by_subprocess},
            TIMES,
            warm_up=10,
        )
    return [
        compare(
            f"`machine exec` of `true` in process, {TIMES} times",
            "`subprocess.run` with pipes, a time limit and a session",
            series["hearth"],
            series["subprocess"],
            most=1.3,
            of="wall_ms",
        )
    ]


def by_subprocess() -> Sample:
    cpu, wall = time.process_time(), time.perf_counter()
    subprocess.run(
        ["/bin/true"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
        start_new_session=True,
        check=True,
    )
    return Sample((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)


def _start(setting: Setting) -> list[Row]:
    series = interleaved(
        {"exec": setting.hearth("machine", "exec", "--", "true"), "stat": setting.hearth("fs", "stat", ".")},
        setting.rounds * 4,
        warm_up=2,
    )
    pairs = zip(series["exec"].samples, series["stat"].samples, strict=True)
    more = Series(tuple(Sample(one.wall_ms - two.wall_ms, one.cpu_ms - two.cpu_ms) for one, two in pairs))
    what = "`hearth machine exec -- true`, more than `hearth fs stat .`"
    return [limit(what, more, of=of, most=20, to_reach="+ 20 ms") for of in ("wall_ms", "cpu_ms")]


def _flood(setting: Setting) -> list[Row]:
    big = make_lines(setting.folder / "big.txt", FLOOD_BYTES)
    series = interleaved(
        {
            "hearth": setting.hearth("machine", "exec", "--json", "--", "cat", big.name),
            "cat": Command(("sh", "-c", f"cat {big.name} > copy.txt"), folder=setting.folder),
        },
        max(3, setting.rounds // 2),
    )
    what = "1 GiB of output through `machine exec` to an artifact"
    return [
        compare(what, "`cat` to a file", series["hearth"], series["cat"], most=2, of="wall_ms"),
        compare(what, "`cat` to a file", series["hearth"], series["cat"], most=2),
        limit(what, series["hearth"], of="rss_bytes", most=64, to_reach="< 64 MiB"),
    ]


def make_lines(path: Path, size: int) -> Path:
    """A text file of `size` bytes."""
    with open(path, "wb") as file:
        number = 0
        while file.tell() < size:
            file.write(b"".join(LINE % each for each in range(number, number + 10_000)))
            number += 10_000
        file.truncate(size)
    return path


def _deaf_tree(setting: Setting) -> Row:
    with session(setting.folder / "tree", sync=False) as opened:
        series = interleaved({"tree": lambda: _end_of_tree(opened)}, setting.rounds)
    return limit(
        f"a time-out of a tree of {TREE} processes that ignore TERM, after the grace",
        series["tree"],
        of="wall_ms",
        most=500,
        to_reach="< 500 ms, none left",
    )


def _end_of_tree(opened: Session) -> Sample:
    mark = identifiers.new("run", time.time_ns() // 1_000_000)
    script = f"trap '' TERM; for i in $(seq {TREE}); do sleep 300 & done; wait"
    given = {"command": "sh", "args": ("-c", script), "env": {"BENCHMARK": mark}}
    sample = opened.timed("machine.exec", **given, timeout_ms=TIMEOUT_MS, grace_ms=GRACE_MS)
    if left := [process.pid for process in psutil.process_iter() if _is_marked(process, mark)]:
        raise CommandFailed(f"{len(left)} processes of the tree are left")
    return Sample(sample.wall_ms - TIMEOUT_MS - GRACE_MS, sample.cpu_ms)


def _is_marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get("BENCHMARK") == mark
    except (psutil.Error, OSError):
        return False
