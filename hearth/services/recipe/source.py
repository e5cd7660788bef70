"""A definition as the TOML that people keep in files."""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from hearth.fields import fields_of
from hearth.services.recipe.definition import Definition


def to_toml(definition: Definition) -> str:
    """The text of a definition: what is not as it would be by default, in the order of the fields."""
    import tomlkit

    return tomlkit.dumps(_values(definition))


def _values(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        given = ((field, getattr(value, field.attribute)) for field in fields_of(type(value)))
        return {field.name: _values(each) for field, each in given if each is not None and each != field.default}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {name: _values(each) for name, each in value.items()}
    return [_values(each) for each in value] if isinstance(value, (list, tuple)) else value
