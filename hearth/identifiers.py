"""Identifiers: a kind and a lower-case ULID, so that they sort by the time they were made.

Source of the form: https://github.com/ulid/spec (48 bits of milliseconds, 80 random bits, Crockford's base 32).
"""

from __future__ import annotations

import os

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def ulid(milliseconds: int) -> str:
    """26 characters for a time in milliseconds since 1970."""
    number = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


# Two characters, ten bits, at a time.
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_SHIFTS = range(120, -10, -10)


def new(kind: str, milliseconds: int) -> str:
    """A new identifier of a kind such as `rec`."""
    return f"{kind}_{ulid(milliseconds)}"
