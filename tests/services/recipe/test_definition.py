"""What a definition is made of."""

from __future__ import annotations

import pytest

from hearth import check
from hearth.errors import InvalidInput
from hearth.services.recipe.definition import Definition, ParameterType


def test_a_definition_is_read_from_json() -> None:
    made = check.validate(
        Definition,
        {
            "name": "build",
            "parameters": {"target": {"type": "choice", "choices": ["debug", "release"]}},
            "steps": [{"name": "compile", "primitive": "machine.exec", "input": {"args": ["${target}", None]}}],
        },
    )
    assert made.parameters["target"].type is ParameterType.CHOICE
    assert made.steps[0].input == {"args": ["${target}", None]}


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 81])
def test_a_recipe_has_a_plain_name(name: str) -> None:
    with pytest.raises(InvalidInput):
        check.validate(Definition, {"name": name, "steps": [{"primitive": "fs.stat"}]})
