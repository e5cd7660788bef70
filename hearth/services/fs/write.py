"""Write a file, whole or at its end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, BinaryIO

from hearth.containment import translated
from hearth.errors import AlreadyExists, Conflict, NotFound, invalid
from hearth.model import Cli, Content, Help, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Expected, Group, Receipt, Warnings
from hearth.services.fs.backup import CHUNK_BYTES, chunks
from hearth.services.fs.content import ABSENT, Write

if TYPE_CHECKING:
    from hearth.content.text import LineEnds

LONGEST_MARK = 4
LOOKS = 5  # how often a write looks anew at a file that comes and goes


class NewLineEnds(StrEnum):
    """How the lines of what is written end."""

    LF = "lf"
    CRLF = "crlf"


@model
class WriteFile:
    path: Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("The file to write.")]
    data: Annotated[str | None, Content(), Help("The content; without it and --from, standard input.")] = None
    from_file: Annotated[
        str | None,
        Len(1, MAX_PATH),
        PathName(),
        Cli(names=("--from",), metavar="FILE", completes="path"),
        Help("A file that holds the content."),
    ] = None
    encoding: Annotated[
        str | None,
        Len(1, 40),
        Help(
            "What the text is stored as (utf-8, utf-16-le, ...), or base64 for bytes; what is appended from --data "
            "follows the file's byte order mark."
        ),
    ] = None
    bom: Annotated[bool, Help("Begin with a byte order mark.")] = False
    line_ends: Annotated[NewLineEnds | None, Help("End every line this way; by default lines stay as given.")] = None
    append: Annotated[bool, Help("Add to the end of the file, in place.")] = False
    create_only: Annotated[bool, Help("Refuse a file that exists.")] = False
    expected_sha256: Expected = None
    parents: Annotated[bool, Help("Make missing directories.")] = True
    permanent: Annotated[bool, Help("Write even where the old content is too large to be kept for undo.")] = False
    group: Group = None
    dry_run: DryRun = False


@model
class FileWritten:
    """What a write came to. `sha256` is null for an append to a file above 1 MiB."""

    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("The file, links resolved.")]
    sha256: Annotated[str | None, Help("The hash of the whole new content.")]
    size: Annotated[int, Help("The new size in bytes.")]
    created: Annotated[bool, Help("Whether the file is new.")]
    changed: Annotated[bool, Help("False: the content was the same, and nothing was done.")]
    receipt: Receipt
    replace_attempts: Annotated[int, Help("How often the rename was tried; more than 1 after refusals that passed.")]
    warnings: Warnings = ()


def write(runtime: Runtime, given: WriteFile) -> FileWritten:
    """Raises `Conflict`, `AlreadyExists`, `OutsideRoot`, `ReadOnlyRoot`, `NoSpace`, `Encoding`, `BackupTooLarge`,
    `CannotKeepOwner`, `Locked`."""
    content = _content(runtime, given)
    if given.append:
        return _append(runtime, given, content)
    looks = LOOKS if isinstance(content, bytes) else 1  # a stream comes only once
    while True:
        looks -= 1
        try:
            return _write(runtime, given, content)
        except Conflict as error:
            # Somebody made the file meanwhile, which a caller who did not ask for a new one need not hear of.
            if looks == 0 or given.create_only or given.expected_sha256 or not _made_meanwhile(error):
                raise


def _made_meanwhile(error: Conflict) -> bool:
    return error.details.get("expected_sha256") == ABSENT


def _write(runtime: Runtime, given: WriteFile, content: bytes | Iterable[bytes]) -> FileWritten:
    step = Write(
        given.path,
        content,
        expected_sha256=given.expected_sha256,
        create_only=given.create_only or given.append,
        create_parents=given.parents,
        permanent=given.permanent,
    )
    done = mutation.apply(runtime, [step], operation="fs.write", group=given.group, dry_run=given.dry_run)
    return written(step, done)


def _append(runtime: Runtime, given: WriteFile, content: bytes | Iterable[bytes]) -> FileWritten:
    from hearth.services.fs.appending import bounded

    data = content if isinstance(content, bytes) else bounded(content, runtime.settings.fs.backup_max_bytes)
    if given.create_only:
        return _write(runtime, given, data)
    looks = 1 if given.expected_sha256 else LOOKS
    while True:
        looks -= 1
        try:
            return _add(runtime, given, data) if _exists(runtime, given.path) else _write(runtime, given, data)
        except (AlreadyExists, Conflict, NotFound):  # made or removed between the look and the lock
            if looks == 0:
                raise


def _add(runtime: Runtime, given: WriteFile, data: bytes) -> FileWritten:
    from hearth.services.fs.appending import Append

    data = _behind(_beginning(runtime, given.path), given, data)
    step = Append(given.path, data, expected_sha256=given.expected_sha256)
    done = mutation.apply(runtime, [step], operation="fs.write", group=given.group, dry_run=given.dry_run)
    return FileWritten(
        path=step.change.path,
        sha256=step.whole_sha256,
        size=step.change.after_size or 0,
        created=False,
        changed=step.changed,
        receipt=done.receipt.id if done.receipt else None,
        replace_attempts=0,
        warnings=tuple(done.warnings),
    )


def _exists(runtime: Runtime, path: str) -> bool:
    with runtime.containment.locate(path, write=True, parents=True) as place:
        return place.entry is not None


def _beginning(runtime: Runtime, path: str) -> bytes:
    """The first bytes of the file, where a byte order mark would stand. Raises `NotFound`, `IsDirectory`."""
    with runtime.containment.locate(path, write=True) as place:
        descriptor = place.open_file()
    try:
        with translated(place.path):
            return os.read(descriptor, LONGEST_MARK)
    finally:
        os.close(descriptor)


def _behind(begin: bytes, given: WriteFile, data: bytes) -> bytes:
    """What is appended to a file that begins so: text in the encoding of its mark, and no mark of its own."""
    if not begin or given.encoding == "base64":
        return data
    from hearth.content import text

    if given.encoding is None and given.data is not None:
        marked = next((encoding for mark, encoding in text.MARKS if begin.startswith(mark)), "utf-8")
        if marked != "utf-8":
            words = given.data if given.line_ends is None else text.with_line_ends(given.data, _ends(given))
            return text.encode(words, marked)
    encoding, has_mark = text.named(given.encoding or "utf-8")
    return data.removeprefix(text.mark_of(encoding)) if given.bom or has_mark else data


def written(step: Write, done: mutation.Mutation) -> FileWritten:
    change = step.change
    assert change.after_size is not None
    return FileWritten(
        path=change.path,
        sha256=change.after_sha256,
        size=change.after_size,
        created=step.created,
        changed=step.changed,
        receipt=done.receipt.id if done.receipt else None,
        replace_attempts=done.replace_attempts,
        warnings=tuple(done.warnings),
    )


def _content(runtime: Runtime, given: WriteFile) -> bytes | Iterable[bytes]:
    if given.data is not None and given.from_file is not None:
        raise invalid("from_file", "too_many", "give data or a file, not both")
    if given.data is not None:
        return _bytes_of(given.data, given)
    if given.from_file is not None:
        return _transcoded(_file(runtime, given.from_file), given)
    if runtime.stdin is None:
        raise invalid("data", "missing", "is required, unless from_file names a file")
    return _transcoded(_standard_input(runtime.stdin), given)


def _standard_input(stream: BinaryIO) -> Iterator[bytes]:
    with translated("standard input"):
        while data := stream.read(CHUNK_BYTES):
            yield data


def _file(runtime: Runtime, path: str) -> Iterator[bytes]:
    with runtime.containment.locate(path) as place:
        descriptor = place.open_file()
    try:
        with translated(place.path):
            yield from chunks(descriptor)
    finally:
        os.close(descriptor)


def _bytes_of(text: str, given: WriteFile) -> bytes:
    if given.encoding == "base64":
        return _from_base64(text)
    if given.encoding is None and not given.bom and given.line_ends is None:
        # Lone surrogates stand for bytes of the shell's words that are not UTF-8.
        return text.encode("utf-8", "surrogateescape")
    return b"".join(_Encoder(given).pieces(iter((text,))))


def _transcoded(data: Iterator[bytes], given: WriteFile) -> Iterable[bytes]:
    """Bytes as they come, unless they are text that is to be stored in another way."""
    if given.encoding == "base64":
        return (_from_base64(b"".join(data)),)
    if given.encoding is None and not given.bom and given.line_ends is None:
        return data
    return _Encoder(given).pieces(_text(data))


def _text(data: Iterator[bytes]) -> Iterator[str]:
    from hearth.content.text import Decoder

    decoder = Decoder("utf-8")
    for each in data:
        yield decoder.feed(each)
    yield decoder.feed(b"", final=True)


def _ends(given: WriteFile) -> LineEnds:
    from hearth.content.text import LineEnds

    return LineEnds(given.line_ends.value) if given.line_ends else LineEnds.NONE


class _Encoder:
    """Text that comes in pieces, as the bytes that the input asks for."""

    def __init__(self, given: WriteFile) -> None:
        from hearth.content import text

        self._text = text
        self._encoding, marked = text.named(given.encoding or "utf-8")
        self._bom = given.bom or bool(marked)
        self._ends = _ends(given)

    def pieces(self, texts: Iterator[str]) -> Iterator[bytes]:
        if self._bom:
            yield self._text.mark_of(self._encoding)
        held = ""
        for piece in texts:
            piece = held + piece
            held = "\r" if piece.endswith("\r") else ""  # its LF may come with the next piece
            yield self._encoded(piece[: len(piece) - len(held)])
        yield self._encoded(held)

    def _encoded(self, piece: str) -> bytes:
        return self._text.encode(self._text.with_line_ends(piece, self._ends), self._encoding)


def _from_base64(text: str | bytes) -> bytes:
    import base64
    import binascii

    try:
        return base64.b64decode(
            "".join(text.split()) if isinstance(text, str) else b"".join(text.split()), validate=True
        )
    except (binascii.Error, ValueError) as error:
        raise invalid("data", "wrong_form", f"is no base64: {error}") from None
