"""The rows of artifacts: what is kept beside files, who made it, and which body holds it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A kept content. `body` is its sha256 and names its body, `size` is in bytes, `at` is when it was kept."""

    id: str
    at: str
    body: str
    size: int
    media_type: str
    operation: str
    caller: str
    encoding: str | None = None
    label: str | None = None
    run: str | None = None
    conversation: str | None = None
    pinned: bool = False
    seq: int = 0


_INSERT = """
    INSERT INTO artifacts
        (id, at, body, size, media_type, encoding, label, operation, caller, run, conversation, pinned)
    VALUES
        (:id, :at, :body, :size, :media_type, :encoding, :label, :operation, :caller, :run, :conversation, :pinned)
"""
_GET = "SELECT * FROM artifacts WHERE id = :id"
_STARTING = "SELECT * FROM artifacts WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id LIMIT 2"
_PIN = "UPDATE artifacts SET pinned = :pinned WHERE id = :id"
_DELETE = "DELETE FROM artifacts WHERE id = :id"
_NAMES_BODY = "SELECT EXISTS (SELECT 1 FROM artifacts WHERE body = :body)"


def insert(tx: sqlite3.Connection, artifact: Artifact) -> int:
    """Store a row, whose body must be on the disk by now; its sequence number."""
    fields = {name: getattr(artifact, name) for name in Artifact.__slots__ if name != "seq"}
    done = tx.execute(_INSERT, fields)
    assert done.lastrowid is not None
    return done.lastrowid


def find(view: sqlite3.Connection, id_: str) -> Artifact | None:
    row = view.execute(_GET, {"id": id_}).fetchone()
    return _artifact(row) if row else None


def starting_with(view: sqlite3.Connection, prefix: str) -> list[Artifact]:
    """Those whose id starts so, at most two."""
    return [_artifact(row) for row in view.execute(_STARTING, {"prefix": prefix})]


def pin(tx: sqlite3.Connection, id_: str, *, pinned: bool) -> None:
    tx.execute(_PIN, {"id": id_, "pinned": pinned})


def delete(tx: sqlite3.Connection, id_: str) -> bool:
    """Forget an artifact, whose body stays until somebody removes it; whether there was one."""
    return tx.execute(_DELETE, {"id": id_}).rowcount == 1


def names_body(view: sqlite3.Connection, body: str) -> bool:
    return bool(view.execute(_NAMES_BODY, {"body": body}).fetchone()[0])


_PAGE = """
    SELECT * FROM artifacts WHERE seq < :before AND at >= :since AND at <= :until
    AND media_type >= :type_from AND media_type < :type_to
    AND (:run IS NULL OR run = :run) AND (:label IS NULL OR label = :label)
    AND (:operation IS NULL OR operation = :operation) AND pinned >= :pinned
    AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC LIMIT :limit
"""
# Statements of their own, so that a few among a million are found by an index.
_PAGE_OF_RUN = """
    SELECT * FROM artifacts WHERE run = :run AND seq < :before AND at >= :since AND at <= :until
    AND media_type >= :type_from AND media_type < :type_to AND (:label IS NULL OR label = :label)
    AND (:operation IS NULL OR operation = :operation) AND pinned >= :pinned
    AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_LABEL = """
    SELECT * FROM artifacts WHERE label = :label AND seq < :before AND at >= :since AND at <= :until
    AND media_type >= :type_from AND media_type < :type_to
    AND (:operation IS NULL OR operation = :operation) AND pinned >= :pinned
    AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC LIMIT :limit
"""
_PAGE_OF_OPERATION = """
    SELECT * FROM artifacts WHERE operation = :operation AND seq < :before AND at >= :since AND at <= :until
    AND media_type >= :type_from AND media_type < :type_to AND pinned >= :pinned
    AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC LIMIT :limit
"""


def page(
    view: sqlite3.Connection,
    *,
    before: int,
    limit: int,
    since: str = "",
    until: str = "~",
    media_type: str = "",
    run: str | None = None,
    label: str | None = None,
    operation: str | None = None,
    pinned: bool = False,
    conversation: str | None = None,
) -> list[Artifact]:
    """Artifacts older than sequence number `before`, the newest first. `media_type` is whole, or ends with "/"."""
    statement = _PAGE
    for wanted, indexed in ((run, _PAGE_OF_RUN), (label, _PAGE_OF_LABEL), (operation, _PAGE_OF_OPERATION)):
        if wanted is not None:
            statement = indexed
            break
    is_prefix = not media_type or media_type.endswith("/")
    rows = view.execute(
        statement,
        {
            "before": before,
            "since": since,
            "until": until,
            "type_from": media_type,
            "type_to": media_type + ("~" if is_prefix else "\0"),
            "run": run,
            "label": label,
            "operation": operation,
            "pinned": pinned,
            "conversation": conversation,
            "limit": limit,
        },
    )
    return [_artifact(row) for row in rows]


def _artifact(row: sqlite3.Row) -> Artifact:
    fields = dict(zip(row.keys(), row, strict=True))
    return Artifact(**{**fields, "pinned": bool(fields["pinned"])})


# What retention asks for. What is pinned stays.

_EXPIRED = "SELECT count(*), coalesce(sum(size), 0) FROM artifacts WHERE at < :before AND pinned = 0"
_OLDEST = """
    SELECT id, at, body, size FROM artifacts
    WHERE at >= :since AND at < :before AND pinned = 0 ORDER BY at LIMIT :most
"""
_BYTES = "SELECT coalesce(sum(size), 0) FROM artifacts WHERE at < '~' AND pinned = 0"


class Old(NamedTuple):
    """An artifact that may go."""

    id: str
    at: str
    body: str
    bytes: int


def expired(view: sqlite3.Connection, before: str) -> tuple[int, int]:
    """How many are older than `before`, and their bytes."""
    count, size = view.execute(_EXPIRED, {"before": before}).fetchone()
    return count, size


def oldest(view: sqlite3.Connection, *, since: str = "", before: str, most: int = -1) -> Iterator[Old]:
    """Those from `since` until `before`, the oldest first; all, unless `most` bounds them."""
    return (Old(*row) for row in view.execute(_OLDEST, {"since": since, "before": before, "most": most}))


def total_bytes(view: sqlite3.Connection) -> int:
    """Bytes of all that are not pinned; a body that several share counts for each."""
    return int(view.execute(_BYTES).fetchone()[0])
