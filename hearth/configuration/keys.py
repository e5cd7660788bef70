"""The settings by dotted key, and the values that files, variables and words give them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from hearth.bounds import check_field, problems_of
from hearth.fields import Field, fields_of
from hearth.settings import RootSetting, Settings

_WHOLE = re.compile(r"-?[0-9]+\Z", re.ASCII)


class Flaw(NamedTuple):
    """What is wrong with one value: a stable code and a sentence."""

    code: str
    message: str


@cache
def fields() -> Mapping[str, Field]:
    """Every setting that has a value of its own, by dotted key, in the order of their declaration."""
    return dict(_fields(Settings, ""))


def _fields(model: type, prefix: str) -> Iterator[tuple[str, Field]]:
    for field in fields_of(model):
        if field.is_model and not field.many:
            yield from _fields(field.base, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, field


def variable(key: str) -> str:
    """The environment variable that sets a key."""
    return "HEARTH_" + key.replace(".", "_").upper()


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A file's tables as dotted keys."""
    tables = {key.rpartition(".")[0] for key in fields()}
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and (key in tables or any(known.startswith(f"{key}.") for known in tables)):
            yield from flat(value, f"{key}.")
        else:
            yield key, value


def unknown(key: str) -> Flaw:
    """The flaw of a key that does not exist, with the one that was probably meant."""
    from difflib import get_close_matches

    last = key.rpartition(".")[2]
    near = get_close_matches(key, fields(), 1) or [each for each in fields() if each.rpartition(".")[2] == last]
    near = near or [known for known in fields() if get_close_matches(last, [known.rpartition(".")[2]], 1, 0.8)]
    return Flaw("unknown_key", "is not a setting" + (f"; did you mean {near[0]}?" if near else ""))


def check(key: str, value: Any) -> Flaw | None:
    """What is wrong with a value of its own type, as TOML and JSON give it."""
    field = fields()[key]
    if value is None:
        return Flaw("wrong_type", "has no value")
    if isinstance(value, str) and "\0" in value:
        return Flaw("wrong_form", "cannot hold a NUL character")
    if field.is_model and isinstance(value, list):
        found = next((flaw for index, item in enumerate(value) for flaw in _check_item(field, index, item)), None)
    else:
        found = next((Flaw(each.code, each.message) for each in check_field(field, value)), None)
    return found


def _check_item(field: Field, index: int, item: Any) -> Iterator[Flaw]:
    if isinstance(item, str):
        item = {"path": item}
    if not isinstance(item, dict):
        yield Flaw("wrong_type", f"item {index + 1} must be a path, or a table with path and read_only")
        return
    for problem in problems_of(field.base, item):
        yield Flaw(problem.code, f"item {index + 1}: {problem.field} {problem.message}")


def typed(key: str, value: Any) -> Any:
    """A checked value as `Settings` holds it."""
    field = fields()[key]
    if field.is_model:
        return tuple(RootSetting(**({"path": item} if isinstance(item, str) else item)) for item in value)
    if field.many:
        return tuple(value)
    return field.base(value) if field.choices else value


def from_word(key: str, word: str) -> Any:
    """What a word of the environment or the shell means for a key; a word that does not fit stays text, for
    `check` to refuse. Lists of the environment are separated as PATH is."""
    field = fields()[key]
    if field.many:
        listed = _from_json(word) if word.lstrip().startswith("[") else None
        return listed if isinstance(listed, list) else [part for part in word.split(os.pathsep) if part]
    if field.base is int and _WHOLE.match(word):
        return int(word[:25])
    if field.base is bool and word in ("true", "false"):
        return word == "true"
    return word


def _from_json(word: str) -> Any:
    import json

    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return None


def build(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted key as the arguments of `Settings`."""
    made: dict[str, Any] = {}
    for field in fields_of(Settings):
        if field.is_model and not field.many:
            inner = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{field.name}.")}
            if inner:
                made[field.name] = field.base(**inner)
        elif field.name in values:
            made[field.name] = values[field.name]
    return made


def value_of(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value
