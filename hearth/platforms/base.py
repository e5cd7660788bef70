"""What every platform offers. The rest of hearth reaches the machine through these and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from hearth.platforms.bells import Bell
    from hearth.platforms.detached import Detacher
    from hearth.platforms.facts import Facts
    from hearth.platforms.folder_watch import FolderWatch
    from hearth.platforms.process_table import ProcessTable
    from hearth.platforms.processes import Launcher


class Kind(StrEnum):
    """What a directory entry is. A junction or mount point of Windows is a link."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"


class Identity(NamedTuple):
    """The same for two names of one file, different for two files that exist at once."""

    device: int
    file: int


class Entry(NamedTuple):
    """What stands under a name, links not followed. Sizes in bytes, times in nanoseconds since 1970."""

    name: str
    kind: Kind
    size: int
    modified_ns: int
    accessed_ns: int
    changed_ns: int  # POSIX: status change
    created_ns: int | None  # where the file system tells
    mode: int  # permission bits, as in os.stat
    owner: int  # POSIX user id, 0 on Windows
    group: int
    links: int
    identity: Identity
    attributes: int  # Windows FILE_ATTRIBUTE_* bits, 0 elsewhere


class Directory(Protocol):
    """An open directory. Names are single components, never followed when they are links, so that what was
    checked is what is used, whatever happens to the names meanwhile. Errors are `OSError`s."""

    path: str  # for messages only; never used to look anything up again

    @property
    def identity(self) -> Identity: ...

    def entry(self, name: str) -> Entry:
        """What stands under `name`; `FileNotFoundError` when nothing does."""

    def scan(self) -> Iterator[tuple[str, Kind]]:
        """Names and kinds, in the file system's order."""

    def open_directory(self, name: str) -> Directory:
        """The directory `name`; a link raises `OSError` with `errno.ELOOP`, another thing `NotADirectoryError`."""

    def read_link(self, name: str) -> str:
        """The text that a link holds."""

    def open_file(self, name: str, *, writable: bool = False) -> int:
        """A file descriptor (binary, not inherited) of an existing regular file. A link raises `OSError` with
        `errno.ELOOP`; anything else that is no regular file raises `errors.NotRegular` or
        `IsADirectoryError`, without blocking and without opening a device."""

    def create_file(self, name: str, mode: int = 0o666) -> int:
        """A descriptor, open for reading and writing, of a new file; `FileExistsError` when the name is taken."""

    def make_directory(self, name: str, mode: int = 0o777) -> None: ...

    def make_link(self, name: str, target: str, *, directory: bool = False) -> None:
        """A symbolic link that holds `target`; `directory` matters on Windows only."""

    def rename(self, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        """Move an entry, atomically, within a file system; `OSError` with `errno.EXDEV` across two.
        Without `replace`, `FileExistsError` when the new name is taken, checked by the system in the same act."""

    def remove_file(self, name: str) -> None:
        """Remove anything but a directory."""

    def remove_directory(self, name: str) -> None: ...

    def set_mode(self, name: str, mode: int) -> None:
        """Set permission bits of what is no link (on Windows only the read-only attribute)."""

    def sync(self) -> None:
        """Make the names in it durable, where the system can do that."""

    def duplicate(self) -> Directory:
        """The same directory, to be closed on its own."""

    def close(self) -> None: ...


class Host(Protocol):
    """The machine that services work on."""

    name: str  # "linux", "macos", "windows"
    case_sensitive: bool  # how this system's names usually compare

    def open_root(self, path: str) -> Directory:
        """The directory at an absolute path, links followed."""

    def real_path(self, path: str) -> str:
        """The absolute path without links, drive mappings and short names; parts that do not exist stay."""

    def unbounded(self, path: str) -> str:
        """The spelling of an absolute path that `open` and `os` take at any length: Windows' `\\\\?\\C:\\...`."""

    def absolute(self, path: str, base: str) -> str:
        """`path` seen from `base`, made absolute, with `.` and `..` taken out as text."""

    def parts(self, path: str) -> tuple[str, tuple[str, ...]]:
        """The anchor (`/`, `C:\\`, `\\\\server\\share\\`) and the components of an absolute path."""

    def same_name(self, one: str, other: str) -> bool:
        """Whether two components name the same thing as far as this system's usual case rule tells."""

    def refuse_name(self, name: str) -> None:
        """Raise `errors.InvalidName` for a component that this system could not make or would change."""

    def entry_of(self, descriptor: int, name: str) -> Entry:
        """What an open file is."""

    def copy_metadata(self, source: int, target: int) -> None:
        """Give an open file the mode, owner, ACL, extended attributes and (Windows) attributes and creation time
        of another. Raises `errors.CannotKeepOwner`; what the target's file system cannot hold is left out."""

    def sync_file(self, descriptor: int) -> None:
        """Return once the file's content is on the disk."""

    def lock(self, path: str, timeout_ms: int) -> AbstractContextManager[None]:
        """Hold the exclusive lock of the file at `path` (made if absent); it ends with the process. Raises
        `errors.Locked` after `timeout_ms`. Not reentrant; threads of one process exclude each other too."""

    def make_private_directory(self, path: str) -> None:
        """Make a directory, and its parents, that only this user (and administrators) can enter."""

    def process_start(self, pid: int) -> str | None:
        """A text that differs between two processes that had the same pid; None when there is none, or when it has
        ended and its parent only has not taken note of that yet."""

    def boot_id(self) -> str:
        """A text that differs after each start of the machine, so that with `process_start` it tells a process of now
        from one of before. Empty where `process_start` alone does that (Windows), or where the system does not say."""

    def make_bell(self, folder: str) -> Bell:
        """A bell in `folder`, which is made if absent, for this user only. Where the file system cannot hold one (no
        named pipes, full, read-only) it is a bell that nobody can ring: who waits looks now and then anyway."""

    def ring(self, folder: str, *, but: Bell | None = None) -> int:
        """Ring every bell of `folder`, or all others than `but`, without ever waiting; how many heard it. Bells of
        processes that are gone are removed. A folder that is not there, or whose bells belong to somebody else, is
        no error."""

    def wait_any(self, waitables: Sequence[int], seconds: float | None) -> list[int]:
        """Those that are ready, as soon as there is one; [] after `seconds`, where None is no limit. Any number, but
        on Windows more than 63 cost a thread each 62. Signal handlers run meanwhile, and what they raise ends it.
        Raises `OSError` for one that is closed."""

    def watch_folder(self, path: str) -> FolderWatch:
        """Be told when files of a folder grow, or are made. Where nothing tells, as where there is no such folder, it
        has no `waitable`, and whoever waits looks now and then."""

    def start_background(self, words: Sequence[str], environment: Mapping[str, str], log: str) -> int:
        """Start a program, by its absolute path, that outlives this process and its terminal; its pid (on Windows that
        of the launcher where a virtual environment's Python is one). It inherits no descriptor, reads nothing, and both
        outputs are added to the file `log`, made if absent, for this user only; one of more than 1 MiB is set aside
        as `<log>.1` first. Its directory is one that nobody will want to remove. Raises `OSError`."""

    def user_data_directory(self) -> str: ...

    def user_config_directory(self) -> str: ...

    def find_program(self, name: str, environment: Mapping[str, str], directory: str) -> str:
        """The absolute path of the program that a command names: with a separator in it seen from `directory`, else
        looked up in the PATH of `environment`, never in the current directory. Raises `errors.ProgramNotFound`,
        which lists what was searched, and `errors.NotExecutable`."""

    def start_directory(self, directory: Directory) -> str:
        """A path by which a program that is being started enters the open directory, where the system can that
        whatever happens to the directory's name."""

    def output_encoding(self) -> str | None:
        """The code page in which console programs write what is not UTF-8; None where there is none."""

    def most_programs(self) -> int:
        """How many programs one process has handles for, to run them at once and still do other work."""

    def empty_unshared(self, path: str, kept: int = 0) -> bool:
        """Empty a file that no other descriptor of any process leads to, but for its first `kept` bytes; false, and
        nothing happens to it, where one does, or where the system does not tell. Raises `OSError`."""

    def most_descriptors(self, wanted: int) -> int | None:
        """How many files and connections this process may have open, once that was raised as far as it goes and is
        wanted; None where there is no such bound."""

    def punch_hole(self, path: str, start: int, end: int) -> bool:
        """Give the disk space of a part of a file back, whose bytes then read as zeros; size and offsets stay. False
        where the file system cannot do that."""

    def make_launcher(self) -> Launcher:
        """What starts programs here. One is enough for a process, and each holds a watchdog or a job of its own."""

    def make_detacher(self) -> Detacher:
        """What starts programs that outlive this process. One is enough for a process."""

    def process_table(self) -> ProcessTable:
        """The processes that run here."""

    def facts(self) -> Facts:
        """What this machine is and has."""
