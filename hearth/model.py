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
    made = dataclasses.dataclass(frozen=True, kw_only=True, slots=True)(cls)
    # pydantic reads its configuration from this attribute, and only the JSON edge ever imports pydantic.
    made.__pydantic_config__ = {"extra": "forbid", "strict": True}  # type: ignore[attr-defined]
    return made


@dataclasses.dataclass(frozen=True, slots=True)
class Help:
    """One sentence about a field; the help text of its option and the description in its schema."""

    text: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        return {**handler(core), "description": self.text}


@dataclasses.dataclass(frozen=True, slots=True)
class Cli:
    """How a field looks at the shell, where "one field, one option" is not what people expect."""

    argument: bool = False  # a positional word; a list takes the rest of the words
    more: str | None = None  # the list field that takes over when several words are given
    names: tuple[str, ...] = ()  # spellings beside --field-name, such as "-n"
    metavar: str | None = None
    completes: str | None = None  # "path", or a kind of id: "receipt"
    hidden: bool = False


def _constrained(schema: Any, **limits: Any) -> Any:
    """A pydantic schema with limits, put on the value inside where it may be null."""
    if schema["type"] == "nullable":
        return {**schema, "schema": _constrained(schema["schema"], **limits)}
    return {**schema, **{name: limit for name, limit in limits.items() if limit is not None}}


@dataclasses.dataclass(frozen=True, slots=True)
class Ge:
    """A number's least value."""

    ge: float

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), ge=self.ge)


@dataclasses.dataclass(frozen=True, slots=True)
class Le:
    """A number's greatest value."""

    le: float

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), le=self.le)


@dataclasses.dataclass(frozen=True, slots=True)
class Len:
    """How many characters a text, or items a list or mapping, may have."""

    min_length: int = 0
    max_length: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), min_length=self.min_length, max_length=self.max_length)


@dataclasses.dataclass(frozen=True, slots=True)
class PathName:
    """The field holds a path: `file://` URIs are decoded, and JSON may give `<field>_base64` instead."""


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """Text must match the regular expression (the part of the syntax that Python, JavaScript and Rust share)."""

    regex: str
    message: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _constrained(handler(source), pattern=self.regex)


@dataclasses.dataclass(frozen=True, slots=True)
class Secret:
    """The field's value is content: events keep its length and sha256 only."""


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """The result's list: a table at a terminal, one line a row for scripts, bare NDJSON items."""

    columns: tuple[str, ...] = ()  # what a person sees; empty: every field


@dataclasses.dataclass(frozen=True, slots=True)
class Raw:
    """The result's text, which the shell prints exactly as it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Hidden:
    """A result's field that only JSON shows."""
