"""The words that say which page of a listing is wanted: times and cursors."""

from __future__ import annotations

from hearth.clock import parse_timestamp, timestamp
from hearth.errors import invalid

NEWEST = 1 << 62  # above every sequence number


def time_bound(field: str, text: str | None, default: str) -> str:
    """A time as rows hold it. Raises `InvalidInput` for what is no time with a zone."""
    if text is None:
        return default
    try:
        return timestamp(parse_timestamp(text))
    except ValueError:
        raise invalid(field, "wrong_form", "must be a time with its offset, such as 2026-01-31T12:00:00Z") from None


def sequence(cursor: str | None) -> int:
    """The number before which a page begins, from a cursor that is one. Raises `InvalidInput`."""
    if cursor is None:
        return NEWEST
    if not cursor.isascii() or not cursor.isdigit():
        raise invalid("cursor", "wrong_form", "is no cursor of an earlier answer")
    return min(int(cursor), NEWEST)
