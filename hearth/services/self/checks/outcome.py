"""What a check finds."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Health(StrEnum):
    """How a thing is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """One line of a diagnosis: how it is, a sentence, and what to do."""

    health: Health
    message: str
    hint: str | None = None


def ok(message: str) -> Finding:
    return Finding(Health.OK, message)


def warn(message: str, hint: str | None = None) -> Finding:
    return Finding(Health.WARN, message, hint)


def fail(message: str, hint: str | None = None) -> Finding:
    return Finding(Health.FAIL, message, hint)


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
