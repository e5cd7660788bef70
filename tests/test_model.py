from __future__ import annotations

import dataclasses

import pytest

from hearth.model import model


@model
class Point:
    x: int
    y: int = 0


@model
class Other:
    x: int
    y: int = 0


def test_models_compare_by_kind_and_values() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert Point(x=1) != Point(x=2)
    several: set[object] = {Point(x=1), Point(x=1, y=0), Point(x=2), Other(x=1)}
    assert len(several) == 3


def test_a_model_shows_its_fields() -> None:
    assert repr(Point(x=1)) == "Point(x=1, y=0)"


def test_a_model_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    assert dataclasses.replace(point, x=2) == Point(x=2)


def test_a_model_without_a_docstring_has_none() -> None:
    assert Point.__doc__ is None
