"""Notes about which output grew when."""

from __future__ import annotations

from pathlib import Path

import pytest

from hearth.engine.order import MOST, Order, Sizes, order_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "order"


def seen(path: Path, *sizes: Sizes) -> tuple[Sizes, ...]:
    order = Order(str(path))
    for each in sizes:
        order.saw(each)
    return order.read()


@pytest.mark.parametrize("sizes", [[(0, 0), (3, 0), (9, 0)], [(0, 2), (0, 2), (0, 7)]])
def test_nothing_is_noted_of_a_single_output(path: Path, sizes: list[Sizes]) -> None:
    assert seen(path, *sizes) == ()
    assert Order(str(path)).text is None
    assert not path.exists()


def test_what_there_was_is_noted_when_the_other_output_grows(path: Path) -> None:
    assert seen(path, (3, 0), (5, 0), (5, 2), (5, 4), (8, 4)) == ((5, 0), (5, 4))


def test_what_grew_between_two_looks_stays_between_them(path: Path) -> None:
    assert seen(path, (3, 1), (5, 2), (5, 2), (9, 9)) == ((3, 1), (5, 2))


def test_a_worker_goes_on_with_the_notes_of_another(path: Path) -> None:
    assert seen(path, (3, 0), (3, 1)) == ((3, 0),)
    assert seen(path, (7, 1), (7, 5)) == ((3, 0), (7, 1))


def test_many_changes_make_coarser_notes(path: Path) -> None:
    notes = seen(path, *((n // 2 + 1, (n + 1) // 2) for n in range(10 * MOST)))
    assert MOST / 4 < len(notes) <= MOST
    assert list(notes) == sorted(notes)
    assert notes[-1] == (5 * MOST, 5 * MOST - 1)
    assert order_of(path.read_text("ascii")) == notes


def test_notes_that_cannot_be_written_are_left_out(tmp_path: Path) -> None:
    assert seen(tmp_path / "absent" / "order", (1, 0), (1, 1), (2, 1)) == ()


def test_a_line_that_is_not_whole_tells_nothing() -> None:
    assert order_of("1 0\n1 2") == ((1, 0),)
    assert order_of(None) == ()
