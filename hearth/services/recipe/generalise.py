"""One recipe for what was done several times: what was the same each time stays, what differed becomes a parameter.

It is made of events, which keep an input's short values as they were and of others only a length and a digest; a
secret they keep in no way. What they do not hold has to be given, so it is a parameter as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hearth import event_log
from hearth.fields import Field, fields_of
from hearth.flow.references import Kind
from hearth.model import PathName
from hearth.secrets import MARK, is_secret_name
from hearth.services.recipe.definition import Definition, Parameter, ParameterType, Step

MOST_SAMPLES = 3
SAMPLE_LENGTH = 40
MAX_NAME = 40
_NO_NAME = re.compile("[^a-z0-9_]+")
_LITERAL = "${"
_BY_KIND: dict[type, ParameterType] = {
    bool: ParameterType.BOOLEAN,
    int: ParameterType.NUMBER,
    float: ParameterType.NUMBER,
}


@dataclass(frozen=True, slots=True)
class Made:
    """A call as an event tells of it."""

    operation: str
    input: dict[str, Any]


class CannotTell(Exception):
    """The events hold too little of an input to make another of its kind."""


def generalised(name: str, models: Sequence[type], occurrences: Sequence[Sequence[Made]]) -> Definition:
    """The recipe of calls that were made as often as there are `occurrences`, each the same operations with inputs of
    `models` and the same fields. Raises `CannotTell`."""
    parameters = _Parameters()
    steps = tuple(
        Step(
            primitive=calls[0].operation,
            input=_Inputs(parameters).object(models[place], [call.input for call in calls]),
        )
        for place, calls in enumerate(zip(*occurrences, strict=True))
    )
    return Definition(
        name=name,
        description=f"Does {', then '.join(step.primitive for step in steps)}."[:1_000],
        parameters=parameters.made,
        steps=steps,
    )


@dataclass(slots=True)
class _Parameters:
    """The parameters so far. Where two vary together they are one."""

    made: dict[str, Parameter] = field(default_factory=dict)
    _by_values: dict[tuple[str, ...], str] = field(default_factory=dict)

    def reference(self, wanted: str, kind: ParameterType, values: Sequence[Any], choices: tuple[str, ...]) -> Any:
        is_text = kind not in (ParameterType.NUMBER, ParameterType.BOOLEAN)
        key = ("text" if is_text else kind.value, *map(_identity, values))
        if kind is ParameterType.SECRET or any(map(_is_redacted, values)):
            key = (wanted,)  # what looks the same may have stood for different things
        name = self._by_values.get(key)
        if name is None or len(key) == 1:
            name = self._by_values[key] = self._free(wanted)
            self.made[name] = Parameter(type=kind, description=_samples(values), choices=choices)
        return f"{_LITERAL}{name}}}" if is_text else {Kind.PARAM.value: name}

    def _free(self, wanted: str) -> str:
        base = _NO_NAME.sub("_", wanted.lower()).strip("_")[:MAX_NAME] or "value"
        base = f"value_{base}" if base[0].isdigit() else base
        base = f"{base}_value" if base == "item" else base  # what `for_each` binds
        name, number = base, 2
        while name in self.made:
            name, number = f"{base}_{number}", number + 1
        return name


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Makes one value of several of the same shape."""

    parameters: _Parameters

    def object(self, model: type, values: Sequence[dict[str, Any]]) -> dict[str, Any]:
        fields = {each.attribute: each for each in fields_of(model)}
        return {
            fields[name].name: self._field(fields[name], [value[name] for value in values])
            for name in values[0]
            if name in fields
        }

    def _field(self, about: Field, values: Sequence[Any]) -> Any:
        if about.mapping and _all(dict, values):
            return {
                name: self._leaf(name, about, [value[name] for value in values], is_secret=is_secret_name(name))
                for name in values[0]
            }
        if about.many:
            if not _all(list, values):
                raise CannotTell(about.name)
            return list(self._items(about, values))
        return self._one(about.name, about, values)

    def _items(self, about: Field, values: Sequence[list[Any]]) -> Iterator[Any]:
        before: Any = None
        for place, items in enumerate(zip(*values, strict=True), 1):
            yield self._one(_name_of_item(about.name, place, before), about, items)
            before = items[0] if len(set(map(_identity, items))) == 1 else None

    def _one(self, name: str, about: Field, values: Sequence[Any]) -> Any:
        if about.is_model and _all(dict, values) and not any(map(_is_digest, values)):
            return self.object(about.base, values)
        return self._leaf(name, about, values)

    def _leaf(self, name: str, about: Field, values: Sequence[Any], *, is_secret: bool = False) -> Any:
        first = values[0]
        if all(map(_is_whole, values)) and len(set(map(_identity, values))) == 1:
            return first.replace(_LITERAL, f"${_LITERAL}") if isinstance(first, str) else first
        return self.parameters.reference(name, _kind(about, values, is_secret), values, about.choices)


def _kind(about: Field, values: Sequence[Any], is_secret: bool) -> ParameterType:
    kinds = {_BY_KIND.get(type(value)) for value in values}
    if is_secret:
        return ParameterType.SECRET
    if len(kinds) == 1 and (kind := kinds.pop()):
        return kind
    if about.choices:
        return ParameterType.CHOICE
    return ParameterType.PATH if about.find(PathName) else ParameterType.STRING


def _all(kind: type, values: Sequence[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _is_digest(value: Any) -> bool:
    return isinstance(value, dict) and "length" in value and not value.keys() - {"length", "sha256"}


def _is_redacted(value: Any) -> bool:
    return isinstance(value, str) and MARK in value


def _is_whole(value: Any) -> bool:
    """Whether the event holds all of the value."""
    if isinstance(value, str):
        return MARK not in value and len(value) < event_log.MAX_TEXT
    return not isinstance(value, (dict, list))


def _identity(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _name_of_item(name: str, place: int, before: Any) -> str:
    """What an item of a list is called: after the option before it, else by its place."""
    if isinstance(before, str) and before.startswith("--") and "=" not in before:
        return before[2:]
    return f"{name.removesuffix('s')}_{place}"


def _samples(values: Sequence[Any]) -> str | None:
    """A few of the values, for whoever has to give one."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values if _is_whole(value)]
    shown = [text if len(text) <= SAMPLE_LENGTH else f"{text[: SAMPLE_LENGTH - 1]}…" for text in dict.fromkeys(texts)]
    return f"Such as {', '.join(shown[:MOST_SAMPLES])}." if shown else None
