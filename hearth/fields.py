"""The fields of a model as every edge sees them: type, bounds, help, default."""

from __future__ import annotations

import dataclasses
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from hearth.model import Help

M = TypeVar("M")
MISSING = dataclasses.MISSING


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """One field. `base` is the type of a value, or of one item where `many` or `mapping` is true.

    `name` is what every surface calls it; `attribute` is the same but for a `_` behind it where the name is a word of
    Python, such as `in`.
    """

    name: str
    attribute: str
    base: Any
    optional: bool
    many: bool
    mapping: bool
    metadata: tuple[Any, ...]
    item_metadata: tuple[Any, ...]
    default: Any

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def help(self) -> str:
        found = self.find(Help)
        return found.text if found else ""

    def find(self, kind: type[M]) -> M | None:
        for fact in self.metadata:
            if isinstance(fact, kind):
                return fact
        return None

    @property
    def is_model(self) -> bool:
        return dataclasses.is_dataclass(self.base)

    @property
    def choices(self) -> tuple[str, ...]:
        if isinstance(self.base, type) and issubclass(self.base, Enum):
            return tuple(member.value for member in self.base)
        return ()


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a model, in the order they were written."""
    known = _KNOWN.get(cls)
    if known is None:
        hints = get_type_hints(cls, include_extras=True)
        known = _KNOWN[cls] = tuple(_field(each, hints[each.name]) for each in dataclasses.fields(cls))
    return known


_KNOWN: dict[type, tuple[Field, ...]] = {}


def _field(declared: dataclasses.Field[Any], hint: Any) -> Field:
    metadata, plain = _unwrap(hint)
    inner_metadata, base, optional = _without_none(plain)
    metadata += inner_metadata
    many, mapping, item_metadata = False, False, ()
    origin = get_origin(base)
    if origin is tuple:
        many = True
        item_metadata, base = _unwrap(get_args(base)[0])
    elif origin is dict:
        mapping = True
        item_metadata, base = _unwrap(get_args(base)[1])
    default = declared.default
    if declared.default_factory is not MISSING:
        default = declared.default_factory()
    return Field(
        declared.name.rstrip("_"), declared.name, base, optional, many, mapping, metadata, item_metadata, default
    )


def _unwrap(hint: Any) -> tuple[tuple[Any, ...], Any]:
    if get_origin(hint) is Annotated:
        return hint.__metadata__, hint.__origin__
    return (), hint


def _without_none(hint: Any) -> tuple[tuple[Any, ...], Any, bool]:
    if get_origin(hint) not in (Union, UnionType):
        return (), hint, False
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    assert len(kinds) == 1, f"a field has one type, or one type or None: {hint}"
    metadata, base = _unwrap(kinds[0])
    return metadata, base, True
