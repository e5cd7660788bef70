"""What is told to a conversation when something of it has ended; stored with the end itself, or not at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from hearth.secrets import redact
from hearth.store import arrivals
from hearth.store.arrivals import Kind
from hearth.store.futures import Future, FutureState
from hearth.store.jobs import Job, JobState

SUMMARY_BYTES = 6_000  # what is longer is told without its large parts
_OF_JOBS = (
    "exit_code",
    "signal",
    "reason",
    "ran_ms",
    "stdout_bytes",
    "stderr_bytes",
    "stdout_artifact",
    "stderr_artifact",
)


def job_ended(tx: sqlite3.Connection, job: Job, state: JobState, facts: Mapping[str, Any]) -> None:
    """A job has ended, with these columns changed; whoever ran it, and also where it never ran."""
    if job.conversation is None:
        return
    summary = {"title": job.title, **{name: facts.get(name) for name in _OF_JOBS}}
    summary["message"] = redact(facts["message"])[:1_000] if facts.get("message") else None
    at = facts["ended_at"]
    arrivals.insert(tx, job.conversation, at=at, kind=Kind.JOB, id_=job.id, state=state, summary=summary)


def future_ended(tx: sqlite3.Connection, future: Future, state: FutureState, document: dict[str, Any], at: str) -> None:
    """A call that was answered pending has ended, with this answer."""
    if future.conversation is None:
        return
    summary = {"operation": future.operation, "result": shortened(document, SUMMARY_BYTES)}
    arrivals.insert(tx, future.conversation, at=at, kind=Kind.FUTURE, id_=future.id, state=state, summary=summary)


def shortened(document: dict[str, Any], most: int) -> dict[str, Any]:
    """The document, or its small parts; `omitted` then names the others, which `task get` of its id shows."""
    sizes = {name: _size(part) for name, part in document.items()}
    left = sum(sizes.values())
    if left <= most:
        return document
    short, omitted = dict(document), []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if left <= most:
            break
        if name not in ("version", "state"):
            left -= sizes[name]
            del short[name]
            omitted.append(name)
    return {**short, "omitted": omitted[:64]}


def _size(part: Any) -> int:
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")) + 64
