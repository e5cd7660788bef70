"""Running contenders side by side, and what was measured of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
Contender = Callable[[], "Sample"]


class CommandFailed(Exception):
    """A command did not end as the benchmark expects, so there is nothing to measure."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: wall-clock and processor time in ms, and the largest resident size in bytes (0: not known)."""

    wall_ms: float
    cpu_ms: float
    rss_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one contender."""

    samples: tuple[Sample, ...]

    def median(self, of: str) -> float:
        return statistics.median(self._values(of))

    def spread(self, of: str) -> tuple[float, float]:
        """The quartiles: half of the runs lie between them."""
        values = self._values(of)
        if len(values) < 2:
            return values[0], values[0]
        quartiles = statistics.quantiles(values, n=4, method="inclusive")
        return quartiles[0], quartiles[2]

    def _values(self, of: str) -> list[float]:
        return [float(getattr(sample, of)) for sample in self.samples]


def interleaved(contenders: Mapping[str, Contender], rounds: int, *, warm_up: int = 1) -> dict[str, Series]:
    """Run A B A B ...: whatever slows the machine for a while then slows all of them."""
    kept: dict[str, list[Sample]] = {name: [] for name in contenders}
    for number in range(rounds + warm_up):
        for name, run in contenders.items():
            sample = run()
            if number >= warm_up:
                kept[name].append(sample)
    return {name: Series(tuple(samples)) for name, samples in kept.items()}


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run to its end; a status other than those expected stops the benchmark."""

    words: Sequence[str]
    stdin: bytes = b""
    folder: Path | None = None
    statuses: frozenset[int] = frozenset({0})
    environment: Mapping[str, str] = field(default_factory=dict)

    def __call__(self) -> Sample:
        started = time.perf_counter()
        with subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self.folder, env=self._environment()
        ) as process:
            assert process.stdin is not None
            process.stdin.write(self.stdin)
            process.stdin.close()
            cpu_ms, rss_bytes = _reap(process)
        wall_ms = (time.perf_counter() - started) * 1000
        if process.returncode not in self.statuses:
            raise CommandFailed(f"{' '.join(self.words)} ended with {process.returncode}")
        return Sample(wall_ms, cpu_ms or wall_ms, rss_bytes)

    def output(self) -> bytes:
        """What the program prints, unmeasured."""
        done = subprocess.run(
            self.words, input=self.stdin, stdout=subprocess.PIPE, cwd=self.folder, env=self._environment(), check=False
        )
        if done.returncode not in self.statuses:
            raise CommandFailed(f"{' '.join(self.words)} ended with {done.returncode}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), **self.environment}


def _reap(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Wait, and tell the processor time (ms) and resident size (bytes) of the program and its children."""
    if sys.platform == "win32":
        process.wait()
        return 0.0, 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss * unit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    what: str
    against: str
    unit: str
    hearth: float
    hearth_spread: tuple[float, float]
    to_reach: str
    reached: bool
    peer: float | None = None
    peer_spread: tuple[float, float] | None = None
    ratio: float | None = None
    note: str = ""


def compare(
    what: str,
    against: str,
    hearth: Series,
    peer: Series,
    *,
    most: float,
    of: str = "cpu_ms",
    less: float = 0.0,
    to_reach: str = "",
    note: str = "",
) -> Row:
    """A row whose measure is a ratio of medians; `less` ms (a start-up) are taken off hearth's side first."""
    ours, theirs = hearth.median(of) - less, peer.median(of)
    return Row(
        what=what,
        against=against,
        unit=of.replace("_ms", " ms"),
        hearth=hearth.median(of),
        hearth_spread=hearth.spread(of),
        peer=theirs,
        peer_spread=peer.spread(of),
        ratio=ours / theirs,
        to_reach=to_reach or f"{most:g} times",
        reached=ours / theirs <= most,
        note=note,
    )


def limit(what: str, measured: Series, *, of: str, most: float, to_reach: str, note: str = "") -> Row:
    """A row whose measure is a limit, in the unit of the samples (for resident size: MiB)."""
    scale = 1 / 2**20 if of == "rss_bytes" else 1.0
    low, high = measured.spread(of)
    value = measured.median(of) * scale
    return Row(
        what=what,
        against="-",
        unit="MiB" if of == "rss_bytes" else of.replace("_ms", " ms"),
        hearth=value,
        hearth_spread=(low * scale, high * scale),
        to_reach=to_reach,
        reached=value <= most,
        note=note,
    )
