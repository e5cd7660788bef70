"""How long a command takes to start and answer, against Python that does nothing."""

from __future__ import annotations

from tests.benchmarks.measure import Row, compare, interleaved
from tests.benchmarks.setting import Setting


def startup(setting: Setting) -> list[Row]:
    (setting.folder / "file.txt").write_bytes(b"hello\n")
    series = interleaved(
        {
            "python": setting.python("pass"),
            "help": setting.hearth("--help"),
            "version": setting.hearth("--version"),
            "stat": setting.hearth("fs", "stat", "file.txt", "--json"),
        },
        setting.rounds * 4,
        warm_up=2,
    )
    bare = series["python"]
    return [
        compare("`hearth --help`", "`python -c pass`", series["help"], bare, most=8),
        compare("`hearth --version`", "`python -c pass`", series["version"], bare, most=8),
        compare("`hearth fs stat F --json`", "`python -c pass`", series["stat"], bare, most=11),
    ]
