"""Values of the model's types as JSON's."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from enum import Enum
from typing import Any

from hearth.fields import fields_of
from hearth.model import PathName


def plain(value: Any) -> Any:
    """A value of the model's types as JSON's: text is always valid Unicode."""
    cls = type(value)
    if cls in _AS_THEY_ARE:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value if value.isascii() else readable(value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if cls not in _WRITERS:
        _WRITERS[cls] = _writer(cls)
    return _WRITERS[cls](value)


_AS_THEY_ARE = frozenset((type(None), bool, int, float))  # most fields of most results: worth the short way
_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {}


def readable(text: str) -> str:
    """Text without lone surrogates: each byte of a name that is not UTF-8 becomes U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        import re

        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _writer(cls: type) -> Callable[[Any], dict[str, Any]]:
    names = tuple(field.name for field in fields_of(cls))
    paths = tuple(field.name for field in fields_of(cls) if field.find(PathName) and not field.many)

    def write(value: Any) -> dict[str, Any]:
        made = {}
        for name in names:
            part = getattr(value, name)
            made[name] = part if type(part) in _AS_THEY_ARE else plain(part)
        for name in paths:
            exact = getattr(value, name)
            # Only a name that text cannot hold gets its bytes beside it: <field>_base64.
            if exact is not None and not exact.isascii() and exact != made[name]:
                made[f"{name}_base64"] = base64.b64encode(os.fsencode(exact)).decode("ascii")
        return made

    return write
