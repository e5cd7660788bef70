"""Change permission bits."""

from __future__ import annotations

import re
from typing import Annotated

from hearth.errors import invalid
from hearth.model import Cli, Help, Len, PathName, Pattern, State, model
from hearth.platforms.base import Entry, Kind
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Group, Receipt
from hearth.services.fs.steps import SetMode

_CLAUSE = re.compile(r"([ugoa]*)([-+=][rwxXst]*)+")
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111}
_WHO = {"u": 0o4700, "g": 0o2070, "o": 0o1007, "a": 0o7777}
WRITE_BITS = 0o222


@model
class ChangeMode:
    mode: Annotated[
        str,
        Len(1, 100),
        Pattern("^([0-7]{1,4}|[ugoa]*([-+=][rwxXst]*)+(,[ugoa]*([-+=][rwxXst]*)+)*)$", "must be like 644 or u+x,go-w"),
        Cli(argument=True),
        Help("Octal, such as 644, or symbolic, such as u+x,go-w. On Windows only whether the file is read-only."),
    ]
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A file or directory.")
    ]
    group: Group = None
    dry_run: DryRun = False


@model
class ModeChanged:
    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("The file or directory, links resolved.")]
    mode: Annotated[str, Help("The new permission bits, octal.")]
    before: Annotated[str, Help("The old ones.")]
    changed: Annotated[bool, Help("False: it had them already.")]
    receipt: Receipt


def chmod(runtime: Runtime, given: ChangeMode) -> ModeChanged:
    """Raises `NotFound`, `PermissionDenied`, `NotRegular`, `OutsideRoot`, `ReadOnlyRoot`."""
    step = _SetSymbolicMode(given.path, given.mode, only_read_only=runtime.host.name == "windows")
    done = mutation.apply(runtime, [step], operation="fs.chmod", group=given.group, dry_run=given.dry_run)
    return ModeChanged(
        path=step.change.path,
        mode=f"{step.change.after_mode:04o}",
        before=f"{step.change.before_mode:04o}",
        changed=step.changed,
        receipt=done.receipt.id if done.receipt else None,
    )


class _SetSymbolicMode(SetMode):
    def __init__(self, path: str, mode: str, *, only_read_only: bool) -> None:
        super().__init__(path)
        self._words = mode
        self._only_read_only = only_read_only

    def new_mode(self, entry: Entry) -> int:
        wanted = mode_from(self._words, entry.mode, is_directory=entry.kind is Kind.DIRECTORY)
        if not self._only_read_only:
            return wanted
        return entry.mode | WRITE_BITS if wanted & 0o200 else entry.mode & ~WRITE_BITS


def mode_from(words: str, mode: int, *, is_directory: bool) -> int:
    """The permission bits that `words` make of `mode`; as chmod(1), but no umask counts. Raises `InvalidInput`."""
    if words.isdigit():
        return int(words, 8)
    for clause in words.split(","):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            raise invalid("mode", "wrong_form", f"{clause!r} is no change of permission bits, such as u+x")
        for change in re.findall(r"[-+=][rwxXst]*", clause):
            mode = _changed(mode, found[1] or "a", change[0], change[1:], is_directory=is_directory)
    return mode


def _changed(mode: int, who: str, how: str, letters: str, *, is_directory: bool) -> int:
    mask = 0
    for each in who:
        mask |= _WHO[each]
    bits = 0
    for letter in letters:
        if letter == "X":  # execute, where somebody may already, or a directory is entered
            bits |= 0o111 if is_directory or mode & 0o111 else 0
        elif letter == "s":
            bits |= 0o6000
        elif letter == "t":
            bits |= 0o1000
        else:
            bits |= _BITS[letter]
    if "t" in letters and "a" not in who and "o" not in who:
        bits &= ~0o1000
    bits &= mask
    if how == "+":
        return mode | bits
    if how == "-":
        return mode & ~bits
    return mode & ~(mask & 0o777) | bits
