from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import catalog
from hearth.cli.demo import TOUR

Hearth = Callable[..., Any]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    return made


@pytest.mark.timeout(20)
def test_the_tour_does_what_it_shows_and_leaves_nothing(
    work: Path, hearth: Hearth, home: Path, temporary: Path
) -> None:
    done = hearth("demo")
    assert done.status == 0, done.err
    for step in TOUR:
        assert f"# {step.title}\n$ " in done.out
    assert "5\thoney" in done.out
    assert "+rye" in done.out
    assert "a & b | c > d" in done.out.splitlines()
    assert os.listdir(temporary) == []
    assert os.getcwd() == str(work)
    assert not (home / "data").exists(), "the user's own data directory takes no part"


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_the_tour_for_programs_is_one_document(work: Path, hearth: Hearth, temporary: Path) -> None:  # noqa: ARG001
    done = hearth("demo", "--json", "--keep")
    assert (done.status, done.json["state"]) == (0, "completed")
    assert [step["exit_status"] for step in done.json["steps"]] == [step.status for step in TOUR]
    folder = Path(done.json["folder"])
    assert (folder / "shopping.md").read_text("utf-8") == "# Shopping\n\nmilk and eggs\nrye\nhoney\n"
    assert (folder / "draft.md").exists(), "its deletion was taken back"


def test_the_tour_visits_every_family() -> None:
    visited = {step.words[0] for step in TOUR}
    assert {name for name in catalog.FAMILIES if not catalog.family(name).top_level} <= visited


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the current directory of a process")
def test_the_tour_needs_a_place_to_come_back_to(work: Path, hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "gone").mkdir()
    monkeypatch.chdir(work / "gone")
    (work / "gone").rmdir()
    done = hearth("demo")
    assert (done.status, done.err) == (4, "hearth: the current directory no longer exists\n")
