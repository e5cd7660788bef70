"""Words of the shell into values of fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hearth import durations
from hearth.errors import InvalidInput, Problem
from hearth.fields import Field

# Bounded, since Python refuses to read thousands of digits, and a float of hundreds is infinite.
_WHOLE = re.compile(r"[-+]?[0-9]{1,100}\Z", re.ASCII)
_NUMBER = re.compile(r"[-+]?[0-9]{1,100}(\.[0-9]{1,100})?\Z", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,9})?)\s?(B|[kKMGT]i?B?)?\Z", re.ASCII)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}


class WrongWord(ValueError):
    """A word that does not mean a value; its text says what was expected."""


def whole_number(text: str) -> int:
    if not _WHOLE.match(text):
        raise WrongWord("must be a whole number")
    return int(text)


def number(text: str) -> float:
    if not _NUMBER.match(text):
        raise WrongWord("must be a number")
    return float(text)


def truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise WrongWord("must be true or false")
    return text == "true"


def duration_ms(text: str) -> int:
    """`30s`, `1.5m`, `200ms`; a bare number is refused, since seconds and milliseconds would be mixed up."""
    try:
        return durations.milliseconds(text)
    except ValueError as error:
        raise WrongWord(str(error)) from None


def size_bytes(text: str) -> int:
    """`4096`, `64KiB`, `1.5GB`; KB and KiB both are 1,024 bytes, as in most tools."""
    found = _SIZE.match(text)
    if not found:
        raise WrongWord("must be a size such as 4096, 64KiB or 2GB")
    unit = (found[2] or "B")[0].upper()
    return round(float(found[1]) * 1024.0 ** _POWERS.get(unit, 0))


_READERS = {int: whole_number, float: number, bool: truth}


def value_of(field: Field, text: str) -> Any:
    """The value of one word for a field (one item of a list or mapping). Raises `WrongWord`, `InvalidInput`."""
    if field.is_model:
        return _nested(field, text, field.name)
    reader = _READERS.get(field.base)
    return reader(text) if reader else text


def values_of(field: Field, texts: Sequence[str]) -> tuple[Any, ...]:
    """The values of a list field's words: one each, but of nested values a word may be a JSON list of them."""
    if not field.is_model:
        return tuple(value_of(field, text) for text in texts)
    each = [item for text in texts for item in _items(text)]
    return tuple(_nested(field, text, f"{field.name}.{place}") for place, text in enumerate(each))


def _items(text: str) -> list[str]:
    if not text.lstrip().startswith("["):
        return [text]
    import json

    from hearth import check

    try:
        return [json.dumps(item) for item in check.parse(text)]
    except InvalidInput as error:
        raise WrongWord(error.message) from None


def _nested(field: Field, text: str, where: str) -> Any:
    """A value of a nested model: JSON, or the short form that the model's `from_word` reads."""
    try:
        if (from_word := getattr(field.base, "from_word", None)) and not text.lstrip().startswith("{"):
            return from_word(text)
        from hearth import check

        return check.validate(field.base, check.parse(text))
    except InvalidInput as error:
        inside = [Problem(f"{where}.{p.field}".rstrip("."), p.code, p.message) for p in error.problems]
        raise InvalidInput(*inside, hint=error.hint) from None


def pair(text: str) -> tuple[str, str]:
    """The two sides of `NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise WrongWord("must be NAME=VALUE")
    return name, value


def name_of(field: str) -> str:
    """The option that sets a field."""
    return "--" + field.replace("_", "-")
