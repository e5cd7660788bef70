"""Old content, kept so that a change can be taken back: small in the receipt itself, larger as a body of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hearth.errors import BackupMissing, BackupTooLarge

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.blobs import Blobs
    from hearth.store.receipts import Change

INLINE_BYTES = 64 * 1024
CHUNK_BYTES = 1024 * 1024


def chunks(descriptor: int, length: int | None = None) -> Iterator[bytes]:
    """What is left of an open file, at most `length` bytes of it."""
    left = length
    while left is None or left > 0:
        data = os.read(descriptor, CHUNK_BYTES if left is None else min(CHUNK_BYTES, left))
        if not data:
            return
        if left is not None:
            left -= len(data)
        yield data


def sha256_of(descriptor: int) -> tuple[str, int]:
    """Hash and size of an open file from its beginning."""
    from hashlib import sha256

    os.lseek(descriptor, 0, os.SEEK_SET)
    digest, size = sha256(), 0
    for data in chunks(descriptor):
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size


def keep(runtime: Runtime, change: Change, descriptor: int, size: int, *, permanent: bool, dry_run: bool) -> None:
    """Read an open file from where it stands and note its hash, its size and a backup as what was before.

    Raises `BackupTooLarge` above fs.backup_max_bytes, unless `permanent` does without the backup."""
    from hashlib import sha256

    limit = runtime.settings.fs.backup_max_bytes
    if size > limit and not permanent:
        raise BackupTooLarge(f"{change.path} has {size} bytes, and no more than {limit} are backed up", size=size)
    if size <= INLINE_BYTES:
        data = b"".join(chunks(descriptor, size + 1))
        change.before_sha256, change.before_size = sha256(data).hexdigest(), len(data)
        if len(data) <= limit:
            change.backup = data
    elif size > limit or dry_run:
        change.before_sha256, change.before_size = sha256_of(descriptor)
    else:
        change.before_sha256, change.before_size = _store(runtime, descriptor)
        change.body = change.before_sha256


def _store(runtime: Runtime, descriptor: int) -> tuple[str, int]:
    body = _blobs(runtime).store(chunks(descriptor), sync=runtime.settings.fs.sync)
    return body.sha256, body.size


def _blobs(runtime: Runtime) -> Blobs:
    from hearth.store.blobs import Blobs

    return Blobs(runtime.host, runtime.data_dir)


def content(runtime: Runtime, change: Change) -> Iterator[bytes]:
    """The old content. Raises `BackupMissing`."""
    if change.backup is not None:
        return iter((change.backup,))
    if change.body is None:
        raise BackupMissing(f"the old content of {change.path} was not kept", path=change.path)
    return _blobs(runtime).verified(change.body)
