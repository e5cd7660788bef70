"""The rows of arrivals: what ended and is to be told to the conversation that it belongs to."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hearth.store import conversations


class Kind(StrEnum):
    """What it was that ended."""

    JOB = "job"
    FUTURE = "future"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A row. `summary` is a JSON object."""

    conversation: str
    seq: int
    at: str
    kind: Kind
    id: str
    state: str
    summary: str


_INSERT = """
    INSERT INTO arrivals (conversation, seq, at, kind, id, state, summary)
    VALUES (:conversation, :seq, :at, :kind, :id, :state, :summary)
"""
_AFTER = "SELECT * FROM arrivals WHERE conversation = :conversation AND seq > :seq ORDER BY seq LIMIT :most"
_COUNT_OLD = "SELECT count(*) AS number, coalesce(sum(length(summary)), 0) AS size FROM arrivals WHERE at < :before"
_DELETE_OLD = """
    DELETE FROM arrivals WHERE (conversation, seq) IN (
        SELECT conversation, seq FROM arrivals WHERE at < :before ORDER BY at LIMIT :most
    )
"""


def insert(
    tx: sqlite3.Connection, conversation: str, *, at: str, kind: Kind, id_: str, state: str, summary: dict[str, Any]
) -> int:
    """Put it behind the others of its conversation; its number."""
    seq = conversations.take_seq(tx, conversation, at)
    text = json.dumps(summary, ensure_ascii=False, separators=(",", ":"))
    row = {"conversation": conversation, "seq": seq, "at": at, "kind": kind, "id": id_, "state": state}
    tx.execute(_INSERT, {**row, "summary": text})
    return seq


def after(view: sqlite3.Connection, conversation: str, seq: int, most: int) -> list[Arrival]:
    """Those behind `seq`, in order."""
    rows = view.execute(_AFTER, {"conversation": conversation, "seq": seq, "most": most})
    return [Arrival(**{**dict(row), "kind": Kind(row["kind"])}) for row in rows]


def expired(view: sqlite3.Connection, before: str) -> tuple[int, int]:
    """How many are older, and the bytes of their summaries."""
    row = view.execute(_COUNT_OLD, {"before": before}).fetchone()
    return int(row["number"]), int(row["size"])


def delete_expired(tx: sqlite3.Connection, before: str, most: int) -> int:
    """Forget the oldest of those; how many."""
    return tx.execute(_DELETE_OLD, {"before": before, "most": most}).rowcount
