"""What a job runs, and how, as it stands in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """When a failed run is tried again: up to `attempts` runs in all, the first included, `delay_ms` after the first
    and `backoff` times longer after each further one; only after the exit codes `on`, or after any failure."""

    attempts: int = 1
    delay_ms: int = 0
    backoff: float = 1.0
    max_delay_ms: int = 3_600_000
    on: tuple[int, ...] = ()

    def delay_after(self, attempt: int) -> int:
        """Milliseconds between the end of a run (1 is the first) and the next one."""
        try:
            longer = self.delay_ms * self.backoff ** (attempt - 1)
        except OverflowError:
            return self.max_delay_ms
        return round(min(longer, self.max_delay_ms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A program: its words, an absolute directory, variables beside those it inherits, its input and its limits."""

    command: str
    args: tuple[str, ...] = ()
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None
    open_stdin: bool = False
    merge: bool = False
    timeout_ms: int | None = None
    grace_ms: int = 2_000
    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    restart: bool = False
    retry: Retry = Retry()

    def to_json(self) -> str:
        # Not asdict(), which copies each value: this is most of what a call spends on a job.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["retry"] = {name: getattr(self.retry, name) for name in self.retry.__dataclass_fields__}
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Spec:
        return (_parsed if len(text) > _LONGEST_KEPT else _kept)(text)


def _parsed(text: str) -> Spec:
    values = json.loads(text)
    retry = values.pop("retry")
    return Spec(
        **{**values, "args": tuple(values["args"])},
        retry=Retry(**{**retry, "on": tuple(retry["on"])}),
    )


_LONGEST_KEPT = 4_096  # characters; inputs may be long
_kept = lru_cache(maxsize=32)(_parsed)  # many jobs are alike
