"""What inputs and results are made of: states, and the facts that their fields carry.

Inputs and results are frozen standard-library dataclasses made by `model`. A field's help text, its bounds and its
shape at the shell stand in its `Annotated` metadata, so that every surface reads them from one place.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


class State(StrEnum):
    """The outcome of a call; the same words for every operation."""

    COMPLETED = "completed"
    FAILED = "failed"
    PENDING = "pending"
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    PARTIAL = "partial"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def model(cls: type[T]) -> type[T]:
    """Make a frozen value class whose JSON form refuses unknown fields and inexact types."""
    cls.__repr__, cls.__eq__, cls.__hash__ = _repr, _eq, _hash  # type: ignore[method-assign]
    # Without a docstring dataclass would work one out from the signature.
    documented, cls.__doc__ = cls.__doc__, cls.__doc__ or " "
    made = dataclasses.dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)(cls)
    made.__doc__ = documented
    # pydantic reads its configuration from this attribute, and only the JSON edge ever imports pydantic.
    made.__pydantic_config__ = {"extra": "forbid", "strict": True, "allow_inf_nan": False}  # type: ignore[attr-defined]
    return made


# One of each for all models: dataclass would compile three more functions a class, which every command pays for.


def _values(given: Any) -> tuple[Any, ...]:
    return tuple(getattr(given, name) for name in given.__dataclass_fields__)


def _repr(self: Any) -> str:
    fields = zip(self.__dataclass_fields__, _values(self), strict=True)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in fields)})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), _values(self)))


# The facts are plain classes: making a dataclass costs half a millisecond, and every command pays for all of these.


class Help:
    """One sentence about a field; the help text of its option and the description in its schema."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        return {**handler(core), "description": self.text}


class Cli:
    """How a field looks at the shell, where "one field, one option" is not what people expect.

    `argument`: a positional word; a list takes the rest of the words. `more`: the list field that takes over when
    several words are given. `names`: spellings beside --field-name, such as "-n". `completes`: "path", "operation",
    "family", "setting", or a kind of id such as "receipt". `hidden`: no option at all. `pairs`: the option may be
    repeated, and the words of all options that name the same list field make its items. `reads_file`: `@file` and `-`
    stand for what a file or standard input holds. `only`: it has a meaning at the shell alone. `rest`: a program's
    words, among which hearth looks for no option of its own.
    """

    __slots__ = ("argument", "completes", "hidden", "metavar", "more", "names", "only", "pairs", "reads_file", "rest")

    def __init__(
        self,
        *,
        argument: bool = False,
        more: str | None = None,
        names: tuple[str, ...] = (),
        metavar: str | None = None,
        completes: str | None = None,
        hidden: bool = False,
        pairs: str | None = None,
        reads_file: bool = False,
        only: bool = False,
        rest: bool = False,
    ) -> None:
        self.argument = argument
        self.more = more
        self.names = names
        self.metavar = metavar
        self.completes = completes
        self.hidden = hidden
        self.pairs = pairs
        self.reads_file = reads_file
        self.only = only
        self.rest = rest


def _constrained(schema: Any, **limits: Any) -> Any:
    """A pydantic schema with limits, put on the value inside where it may be null."""
    if schema["type"] == "nullable":
        return {**schema, "schema": _constrained(schema["schema"], **limits)}
    return {**schema, **{name: limit for name, limit in limits.items() if limit is not None}}


class Ge:
    """A number's least value."""

    __slots__ = ("ge",)

    def __init__(self, ge: float) -> None:
        self.ge = ge

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), ge=self.ge)


class Le:
    """A number's greatest value."""

    __slots__ = ("le",)

    def __init__(self, le: float) -> None:
        self.le = le

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), le=self.le)


class Len:
    """How many characters a text, or items a list or mapping, may have."""

    __slots__ = ("max_length", "min_length")

    def __init__(self, min_length: int = 0, max_length: int | None = None) -> None:
        self.min_length = min_length
        self.max_length = max_length

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), min_length=self.min_length, max_length=self.max_length)


class Pattern:
    """Text must match the regular expression (the part of the syntax that Python, JavaScript and Rust share)."""

    __slots__ = ("message", "regex")

    def __init__(self, regex: str, message: str) -> None:
        self.regex = regex
        self.message = message

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), pattern=self.regex)


class PathName:
    """The field holds a path: `file://` URIs are decoded, and JSON may give `<field>_base64` instead."""

    __slots__ = ()


class Content:
    """The field's value is what a file holds or will hold: events keep its length and sha256 only."""

    __slots__ = ()


class Items:
    """The result's list: a table at a terminal, one line a row for scripts, bare NDJSON items.

    `columns` are what a person sees; empty means every field.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: tuple[str, ...] = ()) -> None:
        self.columns = columns


class Raw:
    """The result's text, which the shell prints exactly as it is."""

    __slots__ = ()


class Hidden:
    """A result's field that only JSON shows."""

    __slots__ = ()
