"""Showing what a job prints, as it comes."""

from __future__ import annotations

from hearth.runtime import Runtime
from hearth.services.task import outcome


def follow(runtime: Runtime, id_: str, *, timeout_ms: int | None) -> outcome.Over:
    """Pass outputs on until the job has ended; what became of it."""
    return outcome.wait_for(runtime, [id_], timeout_ms)
