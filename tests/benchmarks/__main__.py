"""`python -m tests.benchmarks [NAME...]`: measure hearth side by side with its peers, in one run.

Prints a Markdown table; `--json FILE` keeps all numbers. Never part of pass or fail.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from hearth.errors import HearthError
from tests.benchmarks.artifacts import artifacts
from tests.benchmarks.batch import batch
from tests.benchmarks.growth import growth
from tests.benchmarks.jobs import jobs
from tests.benchmarks.measure import CommandFailed, Row
from tests.benchmarks.processes import processes
from tests.benchmarks.programs import programs
from tests.benchmarks.reading import reading
from tests.benchmarks.search import search
from tests.benchmarks.serving import serving
from tests.benchmarks.setting import Setting
from tests.benchmarks.startup import startup
from tests.benchmarks.suggesting import suggesting
from tests.benchmarks.writing import writing

BENCHMARKS: dict[str, Callable[[Setting], list[Row]]] = {
    "startup": startup,
    "batch": batch,
    "search": search,
    "artifacts": artifacts,
    "reading": reading,
    "writing": writing,
    "growth": growth,
    "programs": programs,
    "processes": processes,
    "jobs": jobs,
    "serving": serving,
    "suggesting": suggesting,
}
HEADER = (
    "| what | against | measure | hearth | peer | ratio | to reach | reached |\n|---|---|---|---|---|---|---|---|\n"
)


def main() -> int:
    given = _arguments().parse_args()
    rows: list[Row] = []
    for name in given.name or BENCHMARKS:
        rows += _run(name, given.rounds, given.folder)
    sys.stdout.write(f"{_machine()}; medians of {given.rounds} rounds or more, quartiles in brackets\n\n")
    sys.stdout.write(HEADER + "".join(map(_line, rows)))
    if given.json:
        report = {"machine": _machine(), "rounds": given.rounds, "rows": [dataclasses.asdict(row) for row in rows]}
        Path(given.json).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "name",
        nargs="*",
        choices=[*BENCHMARKS, []],
        metavar="NAME",
        help=f"any of {', '.join(BENCHMARKS)}; all of them by default",
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="work below this folder; it must lie on a real disk, not in memory")
    parser.add_argument("--json", metavar="FILE", help="keep all numbers in FILE")
    return parser


def _run(name: str, rounds: int, folder: str | None) -> list[Row]:
    sys.stderr.write(f"{name} ...\n")
    with tempfile.TemporaryDirectory(prefix="hearth-bench-", dir=folder) as made:
        try:
            return BENCHMARKS[name](Setting(Path(made).resolve(), rounds))
        except (CommandFailed, HearthError) as error:
            sys.stderr.write(f"{name}: {error}\n")
            return []


def _machine() -> str:
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"


def _line(row: Row) -> str:
    peer = "" if row.peer is None or row.peer_spread is None else _number(row.peer, row.peer_spread)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    measure = f"{row.unit} ({row.note})" if row.note else row.unit
    reached = "yes" if row.reached else "NO"
    ours = _number(row.hearth, row.hearth_spread)
    return f"| {row.what} | {row.against} | {measure} | {ours} | {peer} | {ratio} | {row.to_reach} | {reached} |\n"


def _number(median: float, spread: tuple[float, float]) -> str:
    digits = 1 if median >= 1 else 3
    return f"{median:.{digits}f} [{spread[0]:.{digits}f}, {spread[1]:.{digits}f}]"


if __name__ == "__main__":
    sys.exit(main())
