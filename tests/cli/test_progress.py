from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest

from hearth import dispatch
from hearth.cli.progress import Progress
from hearth.runtime import Runtime


class Screen(io.StringIO):
    """What was written, and a signal for each line."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str, /) -> int:
        count = super().write(text)
        self.written.set()
        return count


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_long_work_is_told_with_how_far_it_is_and_then_taken_away(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress("fs hash", shown=True, first_s=0.01) as progress:
        progress.note("12,000 files\x1b")
        assert screen.written.wait(4)
    told = screen.getvalue()
    assert "fs hash: " in told
    assert "12,000 files\\x1b" in told
    assert told.endswith("\r")
    assert told.rpartition("\r")[0].rpartition("\r")[2].strip() == ""


def test_short_work_shows_nothing(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress("fs stat", shown=True):
        pass
    assert screen.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    with Progress("fs stat", shown=False, first_s=0):
        assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_a_walk_says_how_many_names_it_has_seen(work: Path, runtime: Runtime) -> None:
    for number in range(130):
        (work / f"{number}.txt").write_bytes(b"")
    told: list[str] = []
    answer = dispatch.call_json(runtime.for_call(progress=told.append), "fs.find", {"globs": ["*.md"]})
    assert answer.error is None
    assert told == ["0 names", "64 names", "128 names"]
