"""What a call came to, as the door hands it to every edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hearth.errors import HearthError
from hearth.model import State


@dataclass(frozen=True, slots=True)
class Answer:
    """A result or an error, never both."""

    operation: str
    state: State
    result: Any = None
    error: HearthError | None = None
    duration_ms: int = 0
