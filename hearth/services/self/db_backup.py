"""Copying the database while others use it, and giving free pages back to the disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from typing import Annotated

from hearth.containment import Place, translated
from hearth.errors import AlreadyExists
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.self.db import size_of
from hearth.store.retention import BACKUP_PREFIX

CHUNK_BYTES = 1024 * 1024
PAGES_A_STEP = 1_000


@model
class BackupDatabase:
    path: Annotated[str, Len(1, 32_767), PathName(), Cli(argument=True, completes="path"), Help("A new file.")]


@model
class DatabaseBackup:
    """The copy: one file, whole by itself."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The new file.")]
    size: Annotated[int, Help("Its bytes.")]


def backup(runtime: Runtime, given: BackupDatabase) -> DatabaseBackup:
    """Copy the database as it is at one moment, while others go on writing.

    Raises `AlreadyExists` when something stands there, `OutsideRoot`, `NoSpace`."""
    with runtime.containment.locate(given.path, write=True) as place:
        if place.entry is not None:
            raise AlreadyExists(f"{place.path} exists already; a backup overwrites nothing", path=place.path)
        with tempfile.TemporaryDirectory(prefix=BACKUP_PREFIX, dir=_folder(runtime)) as folder:
            copy = os.path.join(folder, "copy")
            _copy_database(runtime, copy)
            size = _copy_out(runtime, copy, place)
    return DatabaseBackup(path=place.path, size=size)


def _folder(runtime: Runtime) -> str:
    return os.path.dirname(runtime.store.path)


def _copy_database(runtime: Runtime, to: str) -> None:
    with runtime.store.read() as view, contextlib.closing(sqlite3.connect(to)) as target:
        view.backup(target, pages=PAGES_A_STEP, sleep=0)
        # A copy that another program opens, perhaps on a read-only disk, should need no files beside it.
        target.execute("PRAGMA journal_mode = DELETE")


def _copy_out(runtime: Runtime, copy: str, place: Place) -> int:
    with translated(place.path), open(copy, "rb") as source:
        descriptor = place.directory.create_file(place.name, 0o600)
        try:
            with open(descriptor, "wb") as target:
                while data := source.read(CHUNK_BYTES):
                    target.write(data)
                target.flush()
                runtime.host.sync_file(target.fileno())
                size = target.tell()
            place.directory.sync()
        except BaseException:
            place.directory.remove_file(place.name)
            raise
    return size


@model
class VacuumDatabase:
    pass


@model
class DatabaseVacuumed:
    """What giving pages back came to."""

    state: State = State.COMPLETED
    size_before: Annotated[int, Help("Bytes of the database and its log before.")]
    size_after: Annotated[int, Help("Bytes of both afterwards.")]


def vacuum(runtime: Runtime, given: VacuumDatabase) -> DatabaseVacuumed:  # noqa: ARG001
    """Raises `DatabaseBusy` when others keep writing, `NoSpace`: it needs room for a second copy."""
    before = size_of(runtime.store.path)
    runtime.store.vacuum()
    return DatabaseVacuumed(size_before=before, size_after=size_of(runtime.store.path))
