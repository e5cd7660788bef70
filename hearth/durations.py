"""Durations as people write them."""

from __future__ import annotations

import re

_FORM = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)\Z", re.ASCII)
_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def milliseconds(text: str) -> int:
    """`30s`, `1.5m`, `200ms`; a bare number is refused, since seconds and milliseconds would be mixed up. Raises
    `ValueError`."""
    found = _FORM.match(text)
    if not found:
        raise ValueError("must be a duration such as 500ms, 30s, 5m or 2h")
    return round(float(found[1]) * _MS[found[2]])
