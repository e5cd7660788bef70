"""Every error that a user can meet.

A class is one stable `code`; its docstring says when it comes. `state`, `exit_status` and `hint` are what that
kind of error means wherever it comes up; the message and the details belong to the one case.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Any, ClassVar

from hearth.model import State


class HearthError(Exception):
    """An outcome to show to the user: message, code, hint and details, never a traceback."""

    code: ClassVar[str] = "error"
    state: ClassVar[State] = State.BLOCKED
    exit_status: ClassVar[int] = 1
    usual_hint: ClassVar[str | None] = None

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.shell_message: str | None = None  # the message in the words of a command line, where they differ
        self.hint = hint or self.usual_hint
        self.details = details

    def document(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: the field as a dotted path, a stable code, a sentence."""

    field: str
    code: str
    message: str


class InvalidInput(HearthError):
    """The words or the JSON of a call are wrong; every problem is listed by field."""

    code = "invalid_input"
    exit_status = 2

    def __init__(self, *problems: Problem, hint: str | None = None) -> None:
        text = "; ".join(f"{p.field}: {p.message}" if p.field else p.message for p in problems)
        super().__init__(
            text,
            hint=hint,
            problems=[{"field": p.field, "code": p.code, "message": p.message} for p in problems],
        )
        self.problems = problems


def invalid(field: str, code: str, message: str, *, hint: str | None = None) -> InvalidInput:
    """An `InvalidInput` about one field."""
    return InvalidInput(Problem(field, code, message), hint=hint)


class UnknownOperation(HearthError):
    """No row of the catalog has that name."""

    code = "unknown_operation"
    exit_status = 2


class SettingError(HearthError):
    """A setting is unknown, has the wrong type or is out of bounds; the message names the file and the key."""

    code = "invalid_setting"
    exit_status = 2
    usual_hint = "`hearth config check` lists every problem; `hearth config show` lists every key"


class NotFound(HearthError):
    """The thing that was named does not exist."""

    code = "not_found"
    exit_status = 4


class SomeFailed(HearthError):
    """Of several things that were named, some could not be had; the others were."""

    code = "some_failed"
    state = State.PARTIAL


class MissingParent(NotFound):
    """The directory that the name would be made in does not exist."""

    code = "missing_parent"
    usual_hint = "make it with `hearth fs mkdir --parents`, or pass parents: true"


class ProgramNotFound(NotFound):
    """No program of that name lies in the directories of PATH, or under the path that was given."""

    code = "program_not_found"


class AlreadyExists(HearthError):
    """Something stands where a new thing was to be made."""

    code = "already_exists"
    state = State.CONFLICT
    exit_status = 3


class Conflict(HearthError):
    """The file is not what the caller expected, or was changed meanwhile."""

    code = "conflict"
    state = State.CONFLICT
    exit_status = 3


class OutsideRoot(HearthError):
    """The path, or the place that a link on it leads to, lies under no root."""

    code = "outside_root"


class NoRoots(HearthError):
    """No root is configured, and none may be implied here."""

    code = "no_roots"
    usual_hint = "add one with `hearth config roots --add PATH`, or pass --root PATH"


class MissingRoot(HearthError):
    """A configured root does not exist or cannot be opened."""

    code = "missing_root"
    usual_hint = "`hearth config roots` lists the roots"


class ReadOnlyRoot(HearthError):
    """The path lies under a root that is read-only."""

    code = "read_only_root"
    usual_hint = "`hearth config roots` lists the roots and which of them are read-only"


class ReservedName(HearthError):
    """The name means a device on Windows, so it is made nowhere."""

    code = "reserved_name"
    usual_hint = "choose another name: CON, PRN, AUX, NUL, COM0-9 and LPT0-9 mean devices on Windows"


class InvalidName(HearthError):
    """The name cannot exist on this file system, such as one with a NUL character."""

    code = "invalid_name"


class NameTooLong(HearthError):
    """The file system refuses a name or path of that length."""

    code = "name_too_long"


class NotRegular(HearthError):
    """The path names a device, FIFO or socket; opening one could block or act."""

    code = "not_regular"
    usual_hint = "only regular files and directories are read and written"


class IsDirectory(HearthError):
    """The path names a directory where a file is needed."""

    code = "is_a_directory"


class HoldsRoot(HearthError):
    """The directory holds a root or hearth's own data, so it is not moved or deleted."""

    code = "holds_root"


class NotDirectory(HearthError):
    """The path, or a part of it, names a file where a directory is needed."""

    code = "not_a_directory"


class NotEmpty(HearthError):
    """A directory still has entries."""

    code = "not_empty"
    usual_hint = "pass --recursive (recursive: true) to remove everything below it"


class LinkLoop(HearthError):
    """Too many links were followed."""

    code = "link_loop"


class PermissionDenied(HearthError):
    """The operating system refuses access."""

    code = "permission_denied"


class NotExecutable(HearthError):
    """The file is there and cannot be run: a directory, no permission, or an interpreter that is missing."""

    code = "not_executable"


class ArgumentsTooLong(HearthError):
    """The words of a command, or one of them, are longer than the system can hand to a program."""

    code = "arguments_too_long"
    usual_hint = "give long text on standard input or in a file"


class Unsupported(HearthError):
    """This system has no way to do that."""

    code = "unsupported"


class Locked(HearthError):
    """Another process holds the file or the lock and did not let go in time."""

    code = "locked"
    usual_hint = "try again; fs.lock_timeout_ms sets how long to wait"


class NoSpace(HearthError):
    """The disk or the quota is full; nothing was changed."""

    code = "no_space"
    usual_hint = "free some space; `hearth gc --dry-run` shows what hearth itself could remove"


class TooLarge(HearthError):
    """The thing is above a bound that protects memory or disk."""

    code = "too_large"


class CannotKeepOwner(HearthError):
    """The file's owner cannot be kept by a replacement, and writing in place is not allowed."""

    code = "cannot_keep_owner"
    usual_hint = "set fs.hard_links to in_place, or run as the file's owner"


class BackupTooLarge(HearthError):
    """Undo would need a backup above fs.backup_max_bytes."""

    code = "backup_too_large"
    usual_hint = "pass --permanent (permanent: true) to do it without undo"


class BackupMissing(HearthError):
    """The old content that undo needs is gone or damaged."""

    code = "backup_missing"


class ArtifactMissing(HearthError):
    """The body of an artifact is gone from the data directory."""

    code = "artifact_missing"
    usual_hint = "`hearth artifact delete` forgets it"


class ArtifactDamaged(HearthError):
    """The body of an artifact is not what was stored: its size or its checksum differs."""

    code = "artifact_damaged"
    usual_hint = "`hearth artifact delete` forgets it"


class ArtifactPinned(HearthError):
    """The artifact is pinned, so it is not deleted."""

    code = "artifact_pinned"
    usual_hint = "`hearth artifact unpin` lets it go, or pass --pinned"


class NotApplied(HearthError):
    """The receipt is of a call that is not finished, or that was taken back after a crash."""

    code = "not_applied"


class SecretRefused(HearthError):
    """Something that looks like a secret would be stored."""

    code = "secret_refused"
    usual_hint = "pass it by environment or file, or set secrets.on_persist to redact"


class Encoding(HearthError):
    """The bytes are not text in the encoding that was asked for, or the text does not fit in it."""

    code = "wrong_encoding"


class UnsafeArgument(HearthError):
    """A word of a command cannot be handed to the program as text, such as a line break to a batch file."""

    code = "unsafe_argument"


class InvalidPattern(HearthError):
    """A glob or regular expression cannot be understood."""

    code = "invalid_pattern"
    exit_status = 2


class RegexEngineMissing(HearthError):
    """No linear-time regular expression engine is installed, so only literals can be searched."""

    code = "regex_engine_missing"
    usual_hint = "pip install google-re2"


class DatabaseError(HearthError):
    """The database cannot be used; subclasses say why."""

    code = "database_error"
    usual_hint = "`hearth doctor` says what is wrong and what to do"


class DatabaseDamaged(DatabaseError):
    """The file is no database, or its pages contradict each other."""

    code = "database_damaged"


class DatabaseTooNew(DatabaseError):
    """A newer hearth wrote this database."""

    code = "database_too_new"
    usual_hint = "upgrade hearth, or use another --data-dir"


class DatabaseForeign(DatabaseError):
    """The file belongs to another program, or to hearth v0."""

    code = "database_foreign"


class DatabaseBusy(DatabaseError):
    """Other processes kept the database locked for longer than the time-out."""

    code = "database_busy"


class DatabaseGone(DatabaseError):
    """The database was moved, deleted or replaced by another one while a process used it."""

    code = "database_gone"
    usual_hint = "nothing more is written to the old one; start again what was stopped by this"


class DatabaseReadOnly(DatabaseError):
    """The data directory or the database cannot be written."""

    code = "data_dir_read_only"
    usual_hint = "choose a directory that you own with --data-dir or HEARTH_DATA_DIR"


class SqliteTooOld(DatabaseError):
    """Python's SQLite is older than 3.37, which has no STRICT tables."""

    code = "sqlite_too_old"


class ProtectedProcess(HearthError):
    """The process is hearth itself, one that hearth runs below, or one that the machine depends on."""

    code = "protected_process"


class Closing(HearthError):
    """The server is about to end, so it begins nothing new."""

    code = "closing"
    usual_hint = "start `hearth serve` again, then repeat the call"


class Interrupted(HearthError):
    """The process that worked on a call ended before it, so nobody can tell how far it came."""

    code = "interrupted"
    usual_hint = "look at what it was to change, then call again; what must outlive a server is a job"


class TooManyCalls(HearthError):
    """More calls wait for their turn than may."""

    code = "too_many_calls"
    usual_hint = "wait for some of them, then call again"


class RequestIdReused(HearthError):
    """Another request was sent under this id before."""

    code = "request_id_reused"
    usual_hint = "give each new request an id of its own"


class NotLoopback(HearthError):
    """The server was to be reached from other machines, which it is not."""

    code = "not_loopback"
    exit_status = 2
    usual_hint = "use 127.0.0.1, ::1 or localhost; for other machines put an authenticated tunnel before it"


class PortTaken(HearthError):
    """Another process listens on the port."""

    code = "port_taken"
    usual_hint = "end it, or choose another port with --port"


class WaitRanOut(HearthError):
    """What was waited for did not happen in the time that was given."""

    code = "wait_ran_out"
    state = State.PENDING
    exit_status = 5


class OutOfTime(HearthError):
    """A time limit of the whole call ran out."""

    code = "timed_out"
    state = State.FAILED
    exit_status = 124


class Cancelled(HearthError):
    """The caller took the call back."""

    code = "cancelled"
    state = State.CANCELLED
    exit_status = 6


class InternalError(HearthError):
    """A bug in hearth; the traceback lies in the file that the message names."""

    code = "internal_error"
    exit_status = 70


class OutputFailed(HearthError):
    """Standard output cannot be written, such as a file on a full disk."""

    code = "output_failed"


class InputClosed(HearthError):
    """The program's standard input is not open, was closed, or nobody reads it."""

    code = "input_closed"


class SystemRefused(HearthError):
    """The operating system refused for a reason that has no name of its own here."""

    code = "system_error"


BY_ERRNO: dict[int, type[HearthError]] = {
    errno.ENOENT: NotFound,
    errno.EEXIST: AlreadyExists,
    errno.EACCES: PermissionDenied,
    errno.EPERM: PermissionDenied,
    errno.EROFS: PermissionDenied,
    errno.ENOTDIR: NotDirectory,
    errno.EISDIR: IsDirectory,
    errno.ENOTEMPTY: NotEmpty,
    errno.ELOOP: LinkLoop,
    errno.ENAMETOOLONG: NameTooLong,
    errno.ENOSPC: NoSpace,
    errno.EFBIG: NoSpace,
    errno.EINVAL: InvalidName,
    errno.EILSEQ: InvalidName,
    errno.EBUSY: Locked,
    errno.ETXTBSY: Locked,
    getattr(errno, "EDQUOT", errno.ENOSPC): NoSpace,
}

# Windows error numbers that errno folds together: https://learn.microsoft.com/windows/win32/debug/system-error-codes
BY_WINERROR: dict[int, type[HearthError]] = {
    32: Locked,  # ERROR_SHARING_VIOLATION
    33: Locked,  # ERROR_LOCK_VIOLATION
    39: NoSpace,  # ERROR_HANDLE_DISK_FULL
    112: NoSpace,  # ERROR_DISK_FULL
    123: InvalidName,  # ERROR_INVALID_NAME
    145: NotEmpty,  # ERROR_DIR_NOT_EMPTY
    161: InvalidName,  # ERROR_BAD_PATHNAME
    206: NameTooLong,  # ERROR_FILENAME_EXCED_RANGE
    267: NotDirectory,  # ERROR_DIRECTORY
    1314: PermissionDenied,  # ERROR_PRIVILEGE_NOT_HELD
}


def from_os(error: OSError, path: str) -> HearthError:
    """The error that an `OSError` about `path` means to a user."""
    winerror = getattr(error, "winerror", None)
    kind = BY_WINERROR.get(winerror) if winerror else None
    kind = kind or BY_ERRNO.get(error.errno or 0, SystemRefused)
    reason = error.strerror or os.strerror(error.errno or 0)
    return kind(f"{path}: {reason}", path=path, errno=error.errno)


def from_data_dir(error: OSError, data_dir: str) -> HearthError:
    """The error that an `OSError` about hearth's own files means: never one about the path that the user gave."""
    meaning = from_os(error, data_dir)
    if isinstance(meaning, NoSpace):
        return meaning
    return DatabaseReadOnly(f"the data directory {data_dir} cannot be written: {error.strerror}")


def is_about(error: OSError, directory: str) -> bool:
    """Whether the system refused something in a directory, rather than in an open one or elsewhere."""
    return isinstance(error.filename, str) and directory + os.sep in error.filename + os.sep
