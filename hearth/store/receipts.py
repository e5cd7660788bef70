"""What changed files, and what undoing it needs.

A receipt is one call; its changes are the steps of it in order. Paths are kept as text; one whose bytes are not
UTF-8 as `base64:` and its bytes, which no absolute path can look like.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

TRASH = "trash:"  # then the receipt and the position: what was removed lies in the data directory
INTENDED, APPLIED, VOID = "intended", "applied", "void"


@dataclass(slots=True)
class Change:
    """One step of a receipt. Sizes in bytes; a hash that is None says that nothing stood there, or no file."""

    kind: str
    path: str
    other: str | None = None
    before_sha256: str | None = None
    before_size: int | None = None
    before_mode: int | None = None
    after_sha256: str | None = None
    after_size: int | None = None
    after_mode: int | None = None
    identity: str | None = None
    in_place: bool = False
    implied: bool = False
    body: str | None = None
    backup: bytes | None = None
    position: int = 0

    @property
    def backup_bytes(self) -> int:
        """What is kept on the disk for undo."""
        if self.other is not None and self.other.startswith(TRASH):
            return self.after_size or 0
        if self.backup is not None:
            return len(self.backup)
        return (self.before_size or 0) if self.body is not None else 0


@dataclass(slots=True)
class Receipt:
    """One recorded call. `steps` is how many changes it consists of once it is whole."""

    id: str
    at: str
    operation: str
    caller: str
    conversation: str | None
    group: str | None
    state: str
    owner_pid: int
    owner_start: str
    steps: int
    undoes: tuple[str, ...] = ()
    undone_by: str | None = None
    seq: int = 0
    changes: list[Change] = field(default_factory=list)


def insert(tx: sqlite3.Connection, receipt: Receipt) -> int:
    """Store a receipt without its changes; its sequence number."""
    done = tx.execute(
        "INSERT INTO receipts (id, at, operation, caller, conversation, group_name, state, owner_pid, owner_start,"
        " steps, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            receipt.id,
            receipt.at,
            receipt.operation,
            receipt.caller,
            receipt.conversation,
            receipt.group,
            receipt.state,
            receipt.owner_pid,
            receipt.owner_start,
            receipt.steps,
            json.dumps(receipt.undoes) if receipt.undoes else None,
        ),
    )
    assert done.lastrowid is not None
    return done.lastrowid


def add_change(tx: sqlite3.Connection, receipt: int, change: Change) -> None:
    tx.execute(
        "INSERT INTO changes (receipt, position, kind, path, other, before_sha256, before_size, before_mode,"
        " after_sha256, after_size, after_mode, identity, in_place, implied, body, backup)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            receipt,
            change.position,
            change.kind,
            path_text(change.path),
            path_text(change.other) if change.other is not None else None,
            change.before_sha256,
            change.before_size,
            change.before_mode,
            change.after_sha256,
            change.after_size,
            change.after_mode,
            change.identity,
            change.in_place,
            change.implied,
            change.body,
            change.backup,
        ),
    )
    if size := change.backup_bytes:
        tx.execute("UPDATE receipts SET backup_bytes = backup_bytes + ? WHERE seq = ?", (size, receipt))


def set_state(tx: sqlite3.Connection, receipt: Receipt, state: str) -> None:
    """Settle a receipt; an applied undo marks what it undid, and frees what that had undone."""
    tx.execute("UPDATE receipts SET state = ? WHERE seq = ?", (state, receipt.seq))
    if state != APPLIED:
        return
    for undone in receipt.undoes:
        tx.execute("UPDATE receipts SET undone_by = ? WHERE id = ?", (receipt.id, undone))
        tx.execute("UPDATE receipts SET undone_by = NULL WHERE undone_by = ?", (undone,))


def set_steps(tx: sqlite3.Connection, receipt: int, steps: int) -> None:
    tx.execute("UPDATE receipts SET steps = ? WHERE seq = ?", (steps, receipt))


def set_identity(tx: sqlite3.Connection, receipt: int, position: int, identity: str) -> None:
    tx.execute(
        "UPDATE changes SET identity = ? WHERE receipt = ? AND position = ?",
        (identity, receipt, position),
    )


def delete(tx: sqlite3.Connection, receipt: str) -> None:
    """By id: the sequence number of a receipt that was rolled back may belong to another one by now."""
    tx.execute("DELETE FROM receipts WHERE id = ?", (receipt,))


def open_ones(tx: sqlite3.Connection) -> list[Receipt]:
    """Receipts whose call has not said how it ended, without their changes; the oldest first."""
    return [_receipt(row) for row in tx.execute("SELECT * FROM receipts WHERE state = 'intended' ORDER BY seq")]


def get(tx: sqlite3.Connection, receipt: str) -> Receipt | None:
    row = tx.execute("SELECT * FROM receipts WHERE id = ?", (receipt,)).fetchone()
    return _receipt(row) if row else None


def claim(tx: sqlite3.Connection, receipt: Receipt, pid: int, start: str) -> bool:
    """Take over an open receipt from the owner that it names; False when another process was quicker."""
    done = tx.execute(
        "UPDATE receipts SET owner_pid = ?, owner_start = ?"
        " WHERE seq = ? AND state = 'intended' AND owner_pid = ? AND owner_start = ?",
        (pid, start, receipt.seq, receipt.owner_pid, receipt.owner_start),
    )
    return done.rowcount == 1


def find(tx: sqlite3.Connection, prefix: str) -> list[Receipt]:
    """The receipts whose id starts with `prefix`, at most two, without their changes."""
    rows = tx.execute(
        "SELECT * FROM receipts WHERE id >= ? AND id < ? ORDER BY id LIMIT 2", (prefix, prefix + "\U0010ffff")
    )
    return [_receipt(row) for row in rows]


def not_undone(tx: sqlite3.Connection, *, conversation: str | None) -> Iterator[Receipt]:
    """Changes that are not undone, the newest first, with what they changed."""
    return _each(
        tx,
        "SELECT * FROM receipts WHERE seq > 0 AND state = 'applied' AND undone_by IS NULL AND undoes IS NULL"
        " AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC",
        conversation,
    )


def not_redone(tx: sqlite3.Connection, *, conversation: str | None) -> Iterator[Receipt]:
    """Undos that are not redone, the newest first, with what they changed."""
    return _each(
        tx,
        "SELECT * FROM receipts WHERE seq > 0 AND state = 'applied' AND undone_by IS NULL AND operation = 'fs.undo'"
        " AND (:conversation IS NULL OR conversation = :conversation) ORDER BY seq DESC",
        conversation,
    )


def newest(tx: sqlite3.Connection) -> Iterator[Receipt]:
    """Every receipt, the newest first, with what it changed."""
    return _each(tx, "SELECT * FROM receipts WHERE seq > 0 ORDER BY seq DESC", None)


def _each(tx: sqlite3.Connection, sql: str, conversation: str | None) -> Iterator[Receipt]:
    for row in tx.execute(sql, {"conversation": conversation}):
        receipt = _receipt(row)
        receipt.changes = changes_of(tx, receipt.seq)
        yield receipt


def of_group(tx: sqlite3.Connection, group: str) -> list[Receipt]:
    """The receipts of a change set that are not undone, the newest first."""
    rows = tx.execute(
        "SELECT * FROM receipts WHERE group_name = ? AND state = 'applied' AND undone_by IS NULL AND undoes IS NULL"
        " ORDER BY seq DESC",
        (group,),
    )
    return [_receipt(row) for row in rows]


def undos_of_group(tx: sqlite3.Connection, group: str) -> list[Receipt]:
    """The undos of a change set that are not redone, the newest first."""
    rows = tx.execute(
        "SELECT * FROM receipts WHERE group_name = ? AND state = 'applied' AND undone_by IS NULL"
        " AND operation = 'fs.undo' ORDER BY seq DESC",
        (group,),
    )
    return [_receipt(row) for row in rows]


def changes_of(tx: sqlite3.Connection, receipt: int) -> list[Change]:
    rows = tx.execute("SELECT * FROM changes WHERE receipt = ? ORDER BY position", (receipt,))
    return [_change(row) for row in rows]


def is_newer(tx: sqlite3.Connection, path: str, receipt: int) -> bool:
    """Whether a later receipt changed the path."""
    sql = "SELECT 1 FROM changes WHERE path = ? AND receipt > ? LIMIT 1"
    return tx.execute(sql, (path_text(path), receipt)).fetchone() is not None


def keeper_of(tx: sqlite3.Connection, path: str, sha256: str) -> Change | None:
    """A change of the path that keeps this content as what was before it."""
    row = tx.execute(
        "SELECT * FROM changes WHERE path = ? AND before_sha256 = ? AND (backup IS NOT NULL OR body IS NOT NULL)"
        " ORDER BY receipt DESC LIMIT 1",
        (path_text(path), sha256),
    ).fetchone()
    return _change(row) if row else None


def outline_of(tx: sqlite3.Connection, receipt: int) -> list[Change]:
    """The changes of a receipt without the old content that is kept in them."""
    rows = tx.execute(
        "SELECT receipt, position, kind, path, other, before_sha256, before_size, before_mode, after_sha256,"
        " after_size, after_mode, identity, in_place, implied, body, NULL AS backup"
        " FROM changes WHERE receipt = ? ORDER BY position",
        (receipt,),
    )
    return [_change(row) for row in rows]


_PAGE = """
    SELECT * FROM receipts WHERE seq < :before AND at >= :since AND at <= :until
    AND (:caller IS NULL OR caller = :caller) AND (:conversation IS NULL OR conversation = :conversation)
    ORDER BY seq DESC LIMIT :limit
"""
# A statement of its own, so that a small group among a million receipts is found by its index.
_PAGE_OF_GROUP = """
    SELECT * FROM receipts WHERE group_name = :group AND seq < :before AND at >= :since AND at <= :until
    AND (:caller IS NULL OR caller = :caller) AND (:conversation IS NULL OR conversation = :conversation)
    ORDER BY seq DESC LIMIT :limit
"""
# Each index gives the newest first and stops at the limit; a file may have been changed ten thousand times.
_PAGE_OF_PATH = """
    SELECT * FROM receipts WHERE seq IN (
        SELECT receipt FROM (SELECT DISTINCT receipt FROM changes WHERE path = :path AND receipt < :before
                             ORDER BY receipt DESC LIMIT :limit)
        UNION
        SELECT receipt FROM (SELECT DISTINCT receipt FROM changes WHERE other = :path AND receipt < :before
                             ORDER BY receipt DESC LIMIT :limit))
    ORDER BY seq DESC LIMIT :limit
"""
# With a filter any number of the path's receipts may have to be passed over.
_PAGE_OF_PATH_FILTERED = """
    SELECT * FROM receipts WHERE seq IN (
        SELECT receipt FROM changes WHERE path = :path AND receipt < :before
        UNION SELECT receipt FROM changes WHERE other = :path AND receipt < :before)
    AND at >= :since AND at <= :until AND (:caller IS NULL OR caller = :caller)
    AND (:group IS NULL OR group_name = :group) AND (:conversation IS NULL OR conversation = :conversation)
    ORDER BY seq DESC LIMIT :limit
"""


def page(
    tx: sqlite3.Connection,
    *,
    before: int,
    limit: int,
    since: str = "",
    until: str = "~",
    caller: str | None = None,
    group: str | None = None,
    path: str | None = None,
    conversation: str | None = None,
) -> list[Receipt]:
    """Receipts older than sequence number `before`, the newest first; of those that touched exactly `path`."""
    filters: dict[str, object] = {"since": since, "until": until, "caller": caller, "group": group}
    filters["conversation"] = conversation
    if path is not None:
        filters["path"] = path_text(path)
        plain = (since, until, caller, group, conversation) == ("", "~", None, None, None)
        statement = _PAGE_OF_PATH if plain else _PAGE_OF_PATH_FILTERED
    else:
        statement = _PAGE if group is None else _PAGE_OF_GROUP
    return [_receipt(row) for row in tx.execute(statement, {**filters, "before": before, "limit": limit})]


def path_text(path: str) -> str:
    """A path as the database holds it."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "base64:" + base64.b64encode(os.fsencode(path)).decode("ascii")
    return path


def path_of(text: str) -> str:
    if text.startswith("base64:"):
        return os.fsdecode(base64.b64decode(text[7:]))
    return text


def _receipt(row: sqlite3.Row) -> Receipt:
    return Receipt(
        id=row["id"],
        at=row["at"],
        operation=row["operation"],
        caller=row["caller"],
        conversation=row["conversation"],
        group=row["group_name"],
        state=row["state"],
        owner_pid=row["owner_pid"],
        owner_start=row["owner_start"],
        steps=row["steps"],
        undoes=tuple(json.loads(row["undoes"])) if row["undoes"] else (),
        undone_by=row["undone_by"],
        seq=row["seq"],
    )


def _change(row: sqlite3.Row) -> Change:
    return Change(
        kind=row["kind"],
        path=path_of(row["path"]),
        other=path_of(row["other"]) if row["other"] is not None else None,
        before_sha256=row["before_sha256"],
        before_size=row["before_size"],
        before_mode=row["before_mode"],
        after_sha256=row["after_sha256"],
        after_size=row["after_size"],
        after_mode=row["after_mode"],
        identity=row["identity"],
        in_place=bool(row["in_place"]),
        implied=bool(row["implied"]),
        body=row["body"],
        backup=row["backup"],
        position=row["position"],
    )


# What retention asks for. A receipt that is still open is never touched: recovery needs it.

_EXPIRED = """
    SELECT count(*), coalesce(sum(backup_bytes), 0) FROM receipts WHERE at < :before AND state <> 'intended'
"""
_OLDEST_EXPIRED = """
    SELECT seq, id, backup_bytes FROM receipts
    WHERE at < :before AND state <> 'intended' ORDER BY at LIMIT :most
"""
_OLDEST_BACKUPS = """
    SELECT seq, id, backup_bytes FROM receipts
    WHERE backup_bytes > 0 AND seq > :after AND at >= :before AND state <> 'intended' ORDER BY seq LIMIT :most
"""
_BACKUP_BYTES = "SELECT coalesce(sum(backup_bytes), 0) FROM receipts WHERE backup_bytes > 0"
_BODIES = "SELECT DISTINCT body FROM changes WHERE receipt = :seq AND body IS NOT NULL"
_NAMES_BODY = "SELECT EXISTS (SELECT 1 FROM changes WHERE body = :body)"
_EXISTS = "SELECT EXISTS (SELECT 1 FROM receipts WHERE id = :id)"
_DELETE = "DELETE FROM receipts WHERE seq = :seq"
_DROP_BACKUPS = "UPDATE changes SET backup = NULL, body = NULL WHERE receipt = :seq"
_HAS_NO_BACKUP = "UPDATE receipts SET backup_bytes = 0 WHERE seq = :seq"


class Old(NamedTuple):
    """A receipt that may lose its backups or go."""

    seq: int
    id: str
    bytes: int  # of its backups


def expired(tx: sqlite3.Connection, before: str) -> tuple[int, int]:
    """How many receipts are older than `before`, and the bytes of their backups."""
    count, size = tx.execute(_EXPIRED, {"before": before}).fetchone()
    return count, size


def oldest_expired(tx: sqlite3.Connection, before: str, most: int) -> list[Old]:
    return [Old(*row) for row in tx.execute(_OLDEST_EXPIRED, {"before": before, "most": most})]


def oldest_backups(tx: sqlite3.Connection, *, after: int, before: str, most: int) -> list[Old]:
    """Receipts with backups behind sequence number `after` that are not older than `before`, the oldest first."""
    return [Old(*row) for row in tx.execute(_OLDEST_BACKUPS, {"after": after, "before": before, "most": most})]


def backup_bytes(tx: sqlite3.Connection) -> int:
    """Bytes of all backups; one that several receipts share counts for each."""
    return int(tx.execute(_BACKUP_BYTES).fetchone()[0])


def bodies(tx: sqlite3.Connection, seq: int) -> list[str]:
    """The bodies that hold a receipt's backups."""
    return [row[0] for row in tx.execute(_BODIES, {"seq": seq})]


def names_body(tx: sqlite3.Connection, body: str) -> bool:
    return bool(tx.execute(_NAMES_BODY, {"body": body}).fetchone()[0])


def exists(tx: sqlite3.Connection, id_: str) -> bool:
    return bool(tx.execute(_EXISTS, {"id": id_}).fetchone()[0])


def remove(tx: sqlite3.Connection, seq: int) -> None:
    """Forget a receipt and its changes."""
    tx.execute(_DELETE, {"seq": seq})


def drop_backups(tx: sqlite3.Connection, seq: int) -> None:
    """Forget a receipt's old content; it stays in the history."""
    tx.execute(_DROP_BACKUPS, {"seq": seq})
    tx.execute(_HAS_NO_BACKUP, {"seq": seq})
