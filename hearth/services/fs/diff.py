"""What a recorded change did to the content of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated

from hearth.containment import Place, translated
from hearth.conversations import lists
from hearth.errors import BackupMissing, HearthError, NotFound, ReadOnlyRoot
from hearth.model import Cli, Ge, Help, Hidden, Le, Len, PathName, Raw, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs import backup
from hearth.services.fs.backup import chunks
from hearth.services.fs.content import content_of
from hearth.services.fs.inverse import recorded
from hearth.services.fs.relocation import Move
from hearth.services.fs.undoing import find, newest_here
from hearth.services.fs.unsettled import settle_if_any
from hearth.store import receipts
from hearth.store.receipts import TRASH, Change, Receipt

MAX_TEXT_BYTES = 4 * 1024 * 1024
MAX_DIFF_BYTES = 64 * 1024 * 1024


@model
class ShowDiff:
    receipt: Annotated[
        str | None,
        Len(1, 64),
        Cli(argument=True, completes="receipt"),
        Help("Which change; its beginning will do. Without it, the newest one below the roots."),
    ] = None
    max_bytes: Annotated[
        int | None, Ge(1), Le(MAX_DIFF_BYTES), Help("Most characters of diff; by default max_output_bytes.")
    ] = None


@model
class FileDiffers:
    """One changed path."""

    path: Annotated[str, PathName(), Help("Which file or directory.")]
    kind: Annotated[str, Help("What was done, as `history` says it.")]
    note: Annotated[str | None, Help("Why there is no diff of it, if there is none.")] = None


@model
class ChangesShown:
    state: Annotated[State, Help("Partial: the diff is longer than asked for.")] = State.COMPLETED
    receipt: Annotated[str, Help("Which change.")]
    operation: Annotated[str, Help("The operation that made it.")]
    at: Annotated[str, Help("When.")]
    files: Annotated[tuple[FileDiffers, ...], Hidden(), Help("Every changed path.")]
    diff: Annotated[str, Raw(), Help("A unified diff; what looks like a secret is masked.")]


class Unshowable(Exception):
    """There is no diff, for the reason that the text gives."""


def diff(runtime: Runtime, given: ShowDiff) -> ChangesShown:
    """Raises `NotFound`, `OutsideRoot` for a path that lies under no root any more."""
    settle_if_any(runtime)
    receipt = _receipt(runtime, given.receipt)
    with runtime.store.read() as tx:
        receipt.changes = receipts.changes_of(tx, receipt.seq)
    most = given.max_bytes or runtime.settings.max_output_bytes
    files: list[FileDiffers] = []
    lines: list[str] = []
    for change in receipt.changes:
        note = None
        try:
            lines += _lines(runtime, change)
        except Unshowable as reason:
            note = str(reason)
            lines.append(f"{change.kind} {_shown(change)}: {note}\n")
        files.append(FileDiffers(path=_shown(change), kind=change.kind, note=note))
    text, cut = _bounded(lines, most)
    return ChangesShown(
        state=State.PARTIAL if cut else State.COMPLETED,
        receipt=receipt.id,
        operation=receipt.operation,
        at=receipt.at,
        files=tuple(files),
        diff=text,
    )


def _receipt(runtime: Runtime, prefix: str | None) -> Receipt:
    if prefix is not None:
        return find(runtime, prefix)
    with runtime.store.read() as tx:
        own = (each for each in receipts.newest(tx) if lists(runtime, each.conversation))
        newest = newest_here(runtime, own)
    if not newest:
        raise NotFound("nothing was changed yet below the roots", hint="`hearth fs history` lists every change")
    return newest[0]


def _bounded(lines: Iterable[str], most: int) -> tuple[str, bool]:
    from hearth.secrets import redact
    from hearth.services.fs.line_diff import bounded

    # Redacted before it is cut: half a secret would not be recognised.
    return bounded(iter(redact("".join(lines)).splitlines(keepends=True)), most)


def _shown(change: Change) -> str:
    if change.path.startswith(TRASH) and change.other is not None:
        return change.other
    return change.path


def _lines(runtime: Runtime, change: Change) -> list[str]:
    """What a change did, in lines of a unified diff or in one of words. Raises `Unshowable`, `OutsideRoot`."""
    path = _shown(change)
    with suppress(NotFound):  # its directory may be gone; it lies under a root all the same
        runtime.containment.locate(path, follow=False).close()
    if change.kind == "mode":
        return [f"mode {path}: {change.before_mode or 0:04o} to {change.after_mode or 0:04o}\n"]
    if change.kind == "copy":
        return [f"copy {change.other} to {path}\n"]
    if change.kind == "write":
        return _content_lines(path, _before(runtime, change), _after(runtime, change))
    if change.kind == "move":
        return _move_lines(runtime, change)
    if change.kind == "append":
        return [f"append {(change.after_size or 0) - (change.before_size or 0)} bytes to {path}\n"]
    if change.kind == "cut":
        return [f"cut {path} to {change.after_size} bytes\n"]
    return [f"{change.kind} {path}\n"]


def _move_lines(runtime: Runtime, change: Change) -> list[str]:
    trashed = change.other is not None and change.other.startswith(TRASH)
    if not trashed:
        word = "restore" if change.path.startswith(TRASH) else "move"
        return [f"{word} {change.path} to {change.other}\n" if word == "move" else f"restore {change.other}\n"]
    content = _trashed(runtime, change)
    if content is None:
        return [f"delete {change.path}\n"]
    return _content_lines(change.path, content, None)


def _trashed(runtime: Runtime, change: Change) -> bytes | None:
    """The content of a deleted file; None of a directory or link, or when it is not in the trash any more."""
    step = recorded(change)
    assert isinstance(step, Move)
    try:
        step.locate(runtime)
        entry = step.destination.entry
        if entry is None or entry.kind is not Kind.FILE:
            return None
        return _read(step.destination)
    except (ReadOnlyRoot, NotFound, OSError):  # OSError: the folder in the trash went away, or cannot be made
        return None
    finally:
        step.close()


def _before(runtime: Runtime, change: Change) -> bytes | None:
    if change.before_sha256 is None:
        return None
    _refuse_large(change.before_size)
    try:
        return b"".join(backup.content(runtime, change))
    except BackupMissing:
        raise Unshowable("the old content is not kept") from None


def _after(runtime: Runtime, change: Change) -> bytes:
    """The new content: what stands there, or what a later change kept of it."""
    _refuse_large(change.after_size)
    with suppress(HearthError), runtime.containment.locate(change.path) as place:
        if place.found.size == change.after_size and content_of(place) == change.after_sha256:
            return _read(place)
    with runtime.store.read() as tx:
        later = receipts.keeper_of(tx, change.path, change.after_sha256 or "")
    if later is None:
        raise Unshowable("the new content was changed since, and is not kept")
    try:
        return b"".join(backup.content(runtime, later))
    except BackupMissing:
        raise Unshowable("the new content is not kept any more") from None


def _read(place: Place) -> bytes:
    _refuse_large(place.found.size)
    descriptor = place.open_file()
    try:
        with translated(place.path):
            return b"".join(chunks(descriptor))
    finally:
        os.close(descriptor)


def _refuse_large(size: int | None) -> None:
    if (size or 0) > MAX_TEXT_BYTES:
        raise Unshowable(f"larger than {MAX_TEXT_BYTES:,} bytes")


def _content_lines(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    from hearth.services.fs.line_diff import unified_diff

    return list(
        unified_diff(
            _text(old),
            _text(new),
            old_name="/dev/null" if old is None else path,
            new_name="/dev/null" if new is None else path,
        )
    )


def _text(data: bytes | None) -> str:
    from hearth.content.text import decode, detect

    if not data:
        return ""
    form = detect(data, whole=True)
    if form.is_binary:
        raise Unshowable("binary")
    return decode(data[len(form.mark) :], form.encoding)
