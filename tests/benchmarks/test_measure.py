"""The measuring itself is right; what is measured never decides pass or fail."""

from __future__ import annotations

import sys

import pytest

from tests.benchmarks.measure import Command, CommandFailed, Sample, Series, compare, interleaved, limit


def series(*values: float) -> Series:
    return Series(tuple(Sample(wall_ms=value, cpu_ms=value, rss_bytes=int(value)) for value in values))


def test_contenders_take_turns_and_the_warm_up_is_not_kept() -> None:
    order: list[str] = []

    def contender(name: str) -> Sample:
        order.append(name)
        return Sample(len(order), len(order))

    found = interleaved({"a": lambda: contender("a"), "b": lambda: contender("b")}, 2)
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert [sample.wall_ms for sample in found["a"].samples] == [3, 5]


def test_a_comparison_is_a_ratio_of_medians_after_the_start_up() -> None:
    row = compare("x", "y", series(30, 50, 40), series(10, 20, 30), most=1.5, less=10)
    assert (row.hearth, row.peer, row.ratio, row.reached) == (40, 20, 1.5, True)
    assert not compare("x", "y", series(41), series(20), most=1.5, less=10).reached


def test_a_limit_of_size_is_told_in_mebibytes() -> None:
    row = limit("x", series(2**20, 3 * 2**20, 2 * 2**20), of="rss_bytes", most=1.5, to_reach="< 1.5 MiB")
    assert (row.hearth, row.hearth_spread, row.unit, row.reached) == (2, (1.5, 2.5), "MiB", False)


def test_a_command_is_charged_for_its_own_time() -> None:
    sample = Command((sys.executable, "-c", "sum(range(300_000))"))()
    assert 0 < sample.cpu_ms < 10_000
    assert sample.wall_ms > 0


def test_a_command_that_fails_is_not_measured() -> None:
    with pytest.raises(CommandFailed, match="ended with 3"):
        Command((sys.executable, "-c", "import sys; sys.exit(3)"))()
