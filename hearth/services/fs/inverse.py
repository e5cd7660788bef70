"""Steps from what was recorded: the step itself, for recovery, and the one that takes it back, for undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hearth.errors import BackupMissing
from hearth.services.fs import backup
from hearth.services.fs.appending import Append, Cut, appended
from hearth.services.fs.content import Write, changed_meanwhile
from hearth.services.fs.relocation import FRESH, Copy, Move, Remove
from hearth.services.fs.steps import MakeDirectory, RemoveDirectory, SetMode, Standing, Step

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.services.fs.mutation import Mutation
    from hearth.store.receipts import Change


def recorded(change: Change) -> Step:
    """The step that a change was, with what it noted."""
    step = _recorded(change)
    step.change = change
    return step


def _recorded(change: Change) -> Step:
    path = change.path
    if change.kind == "write":
        return Write(path)
    if change.kind == "append":
        return Append(path, ())
    if change.kind == "cut":
        return Cut(path)
    if change.kind == "move":
        return Move(path, change.other or "")
    if change.kind == "copy":
        return Copy("", path)
    if change.kind == "mkdir":
        return MakeDirectory(path)
    if change.kind == "rmdir":
        return RemoveDirectory(path)
    if change.kind == "mode":
        return SetMode(path)
    assert change.kind == "remove"
    return Remove(path)


def inverse(runtime: Runtime, change: Change) -> list[Step]:
    """The steps that take a change back, in order. Raises `BackupMissing` for what was not kept."""
    path = change.path
    if change.kind == "write":
        return [_write_back(runtime, change)]
    if change.kind == "append":
        return [Cut(path, change.before_size or 0, expected=lambda file: appended(file, change) is Standing.AFTER)]
    if change.kind == "cut":
        return [Append(path, backup.content(runtime, change))]
    if change.kind == "move":
        return _move_back(runtime, change)
    if change.kind == "copy":
        return [Move(path, FRESH, expected=change.after_sha256)]
    if change.kind == "mkdir":
        return [RemoveDirectory(path, implied=change.implied)]
    if change.kind == "rmdir":
        return [MakeDirectory(path, mode=change.before_mode, implied=change.implied)]
    if change.kind == "mode":
        return [SetModeBack(change)]
    raise BackupMissing(f"{path} was removed for good", path=path)


def _write_back(runtime: Runtime, change: Change) -> Step:
    if change.before_sha256 is None:
        return Move(change.path, FRESH, expected=change.after_sha256)
    content = backup.content(runtime, change)
    return Write(change.path, content, expected_sha256=change.after_sha256)


def _move_back(runtime: Runtime, change: Change) -> list[Step]:
    assert change.other is not None
    steps: list[Step] = [Move(change.other, change.path, create_parents=True)]
    if change.before_sha256 is not None:
        steps.append(Write(change.other, backup.content(runtime, change), create_only=True, mode=change.before_mode))
    return steps


class SetModeBack(SetMode):
    """Set the old mode again, unless somebody else set another one meanwhile."""

    def __init__(self, change: Change) -> None:
        assert change.before_mode is not None and change.after_mode is not None
        super().__init__(change.path, change.before_mode)
        self.expected = change.after_mode

    def prepare(self, mutation: Mutation) -> bool:
        if self.at.found.mode != self.expected:
            raise changed_meanwhile(self.at.path, f"mode {self.expected:04o}", f"mode {self.at.found.mode:04o}")
        return super().prepare(mutation)
