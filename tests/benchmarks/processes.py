"""Listing processes, against psutil's own iteration with the same fields."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tests.benchmarks.measure import Row, Sample, compare, interleaved
from tests.benchmarks.session import session
from tests.benchmarks.setting import Setting

COUNT = 300
FIELDS = ["pid", "ppid", "name", "cmdline", "username", "status", "cpu_times", "memory_info", "create_time"]
SLEEPER = "import sys; sys.stdin.read()"


def processes(setting: Setting) -> list[Row]:
    with crowd(), session(setting.folder / "processes", sync=False) as opened:

        def hearth() -> Sample:
            psutil.process_iter.cache_clear()  # as in a process that has just started
            return opened.timed("machine.process_list")

        series = interleaved({"hearth": hearth, "psutil": by_psutil}, setting.rounds * 3, warm_up=2)
    return [
        compare(
            f"`machine process-list` of {COUNT} processes and the machine's own, command lines redacted",
            "`psutil.process_iter` with the same fields",
            series["hearth"],
            series["psutil"],
            most=1.2,
            of=of,
        )
        for of in ("cpu_ms", "wall_ms")
    ]


def by_psutil() -> Sample:
    psutil.process_iter.cache_clear()
    cpu, wall = time.process_time(), time.perf_counter()
    found = [process.info for process in psutil.process_iter(FIELDS)]
    sample = Sample((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)
    assert len(found) >= COUNT
    return sample


@contextmanager
def crowd() -> Iterator[None]:
    """COUNT processes, which wait for their input to end, beside those that come and go anyway."""
    words = [sys.executable, "-S", "-c", SLEEPER] if sys.platform == "win32" else ["cat"]
    made = [subprocess.Popen(words, stdin=subprocess.PIPE) for _ in range(COUNT)]
    try:
        yield
    finally:
        for process in made:
            process.communicate()
