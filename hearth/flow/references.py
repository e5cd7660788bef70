"""Values that stand for others: what a call takes from parameters and from the outcomes of earlier calls.

A reference is an object such as `{"$step": "build", "$path": "result.stdout"}`; in a recipe `${name}` in a text is
one too, and `$${` a literal `${`. What it leads to is data: it is put where it stood, never read as a reference again,
and never as words of a shell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hearth.errors import InvalidInput, Problem

MAX_PARTS = 32
MAX_DEPTH = 64  # of objects and lists in an input; what is deeper is no input of any operation
# Names that mean an object's own machinery to programs in other languages, which read these values too.
UNSAFE = frozenset(("__proto__", "prototype", "constructor"))
NAME = "[A-Za-z_][A-Za-z0-9_]*"
_TEMPLATE = re.compile(rf"\$\$\{{|\$\{{({NAME})\}}|\$\{{", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


class Kind(Enum):
    """What a reference names."""

    FUTURE = "$future"  # a call of a scatter, by its place or id
    STEP = "$step"  # a step of a recipe, by its name or place
    PARAM = "$param"  # a parameter of a recipe, or the item of its `for_each`


PATH = "$path"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a value is to be taken from. `path` leads from there on; empty: all of it."""

    kind: Kind
    name: str | int
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{''.join('.' + part for part in self.path)}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which references there are."""

    kinds: frozenset[Kind]
    templates: bool = False  # `${name}` in texts means a parameter


SCATTER = Dialect(frozenset((Kind.FUTURE,)))
RECIPE = Dialect(frozenset((Kind.STEP, Kind.PARAM)), templates=True)


class Unknown(Enum):
    """Stands for what is not known yet."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN
Lookup = Callable[[Reference], Any]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A value with its references replaced. `unknown`: where something stands that is not known yet, which is null in
    the value, or for a text of which a part is unknown the text as it was; as dotted paths."""

    value: Any
    unknown: tuple[str, ...] = ()


def find(value: Any, dialect: Dialect, where: str = "") -> Iterator[tuple[str, Reference]]:
    """Every reference and where it stands. Raises `InvalidInput` for what only looks like one."""
    found: list[tuple[str, Reference]] = []

    def note(place: str, reference: Reference) -> Any:
        found.append((place, reference))
        return UNKNOWN

    _Resolving(dialect, note).value(value, where, 0)
    return iter(found)


def resolve(value: Any, dialect: Dialect, lookup: Lookup, where: str = "") -> Resolved:
    """The value with what `lookup` has for each reference, whose path it follows here; `lookup` may have `UNKNOWN`.
    Raises `InvalidInput` for what only looks like a reference and for a path that leads nowhere, and what `lookup`
    raises."""

    def follow(place: str, reference: Reference) -> Any:
        start = lookup(reference)
        return start if start is UNKNOWN else _followed(start, reference, place)

    resolving = _Resolving(dialect, follow)
    made = resolving.value(value, where, 0)
    return Resolved(None if made is UNKNOWN else made, tuple(resolving.unknown))


def outcome(document: dict[str, Any]) -> dict[str, Any]:
    """What references to a call lead into: `state`, the `result` with all its fields, and the `error`."""
    result = {name: part for name, part in document.items() if name not in ("version", "error")}
    return {"state": document["state"], "result": result, "error": document.get("error")}


class _Resolving:
    """One walk through a value."""

    def __init__(self, dialect: Dialect, get: Callable[[str, Reference], Any]) -> None:
        self.unknown: list[str] = []
        self._dialect = dialect
        self._get = get

    def value(self, value: Any, where: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _wrong(where, "too_deep", f"objects and lists go at most {MAX_DEPTH} deep")
        if isinstance(value, str):
            return self._text(value, where) if self._dialect.templates else value
        if isinstance(value, list):
            return [self._known(self.value(each, _below(where, place), depth + 1)) for place, each in enumerate(value)]
        if not isinstance(value, dict):
            return value
        reference = self._reference(value, where)
        if reference is not None:
            found = self._get(where, reference)
            if found is UNKNOWN:
                self.unknown.append(where)
            return found
        return {name: self._known(self.value(each, _below(where, name), depth + 1)) for name, each in value.items()}

    @staticmethod
    def _known(value: Any) -> Any:
        return None if value is UNKNOWN else value

    def _text(self, text: str, where: str) -> Any:
        if "${" not in text:
            return text
        made, end = [], 0
        for match in _TEMPLATE.finditer(text):
            made.append(text[end : match.start()])
            end = match.end()
            if match.group() == "$${":
                made.append("${")
            elif match.group(1) is None:
                raise _wrong(where, "wrong_reference", "${ must begin a name, as in ${name}; a literal ${ is $${")
            else:
                found = self._get(where, Reference(Kind.PARAM, match.group(1)))
                if found is UNKNOWN:
                    self.unknown.append(where)
                    return text
                made.append(_as_text(found, match.group(1), where))
        return "".join([*made, text[end:]])

    def _reference(self, value: dict[str, Any], where: str) -> Reference | None:
        marks = [kind for kind in Kind if kind.value in value]
        if not marks and PATH not in value:
            return None
        if len(marks) != 1 or set(value) - {marks[0].value, PATH}:
            raise _wrong(
                where, "wrong_reference", "a reference is an object with one of $future, $step, $param, and $path"
            )
        kind = marks[0]
        if kind not in self._dialect.kinds:
            usual = ", ".join(sorted(each.value for each in self._dialect.kinds))
            raise _wrong(where, "wrong_reference", f"there are no references by {kind.value} here, only by {usual}")
        name = value[kind.value]
        if isinstance(name, bool) or not isinstance(name, str if kind is Kind.PARAM else (str, int)):
            raise _wrong(_below(where, kind.value), "wrong_type", "must be a name")
        return Reference(kind, name, parts_of(value.get(PATH), _below(where, PATH)))


def parts_of(path: Any, where: str) -> tuple[str, ...]:
    """The parts of a dotted path; none where there is no path. Raises `InvalidInput`."""
    if path is None:
        return ()
    if not isinstance(path, str):
        raise _wrong(where, "wrong_type", "must be text, such as result.stdout")
    parts = tuple(path.split("."))
    if len(parts) > MAX_PARTS:
        raise _wrong(where, "too_long", f"has at most {MAX_PARTS} parts")
    if "" in parts:
        raise _wrong(where, "wrong_form", "has an empty part")
    if unsafe := UNSAFE.intersection(parts):
        raise _wrong(where, "unsafe_path", f"{min(unsafe)} is no part of any result")
    return parts


def _followed(start: Any, reference: Reference, where: str) -> Any:
    found = start
    for part in reference.path:
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and _INDEX.fullmatch(part) and int(part) < len(found):
            found = found[int(part)]
        else:
            raise _wrong(where, "path_not_found", f"{reference}: there is no {part}{_instead(found)}")
    return found


def _instead(found: Any) -> str:
    if isinstance(found, dict):
        names = sorted(found)[:8]
        return f"; there is {', '.join(names)}" if names else " in an empty object"
    return f" in a list of {len(found)}" if isinstance(found, list) else ""


def _as_text(value: Any, name: str, where: str) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (dict, list)):
        raise _wrong(where, "wrong_type", f"{name} is no text, so it cannot stand inside one")
    return json.dumps(value)


def _below(where: str, part: str | int) -> str:
    return f"{where}.{part}" if where else str(part)


def _wrong(where: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(Problem(where, code, message))
