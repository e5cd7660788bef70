"""Cursors: where a listing goes on, as a word that means nothing to its reader."""

from __future__ import annotations

from hearth.errors import InvalidInput, invalid


def encode(parts: tuple[str, ...]) -> str:
    """The cursor behind an entry, given by its components below the directory that is listed."""
    import base64
    import json

    return base64.urlsafe_b64encode(json.dumps(parts).encode("ascii")).decode("ascii").rstrip("=")


def decode(cursor: str | None) -> tuple[str, ...]:
    """The components that `encode` was given; none for no cursor. Raises `InvalidInput`."""
    if cursor is None:
        return ()
    import base64
    import binascii
    import json

    try:
        parts = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise _wrong() from None
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) for part in parts):
        raise _wrong()
    return tuple(parts)


def _wrong() -> InvalidInput:
    return invalid("cursor", "wrong_form", "is not a next_cursor that this operation gave")
