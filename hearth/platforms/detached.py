"""Programs that outlive hearth: what every platform offers for the programs of jobs.

One is started held back, so that its owner can first write down what finds it again, and only then lets it go. Its
outputs go to files, and how it ended can be told by a process that did not start it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from hearth.platforms.processes import Exit

STDOUT = "stdout"
STDERR = "stderr"
STATUS = "status"
HELD = b"held\n"  # what a file `status` begins with, for as long as nothing has started


class DetachedLaunch(NamedTuple):
    """What to start. `program` is an absolute path; `words` begin with the name that the program sees as its own,
    which on POSIX is the path instead."""

    program: str
    words: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]  # which nobody changes afterwards: what is made of it is kept for the next launch
    folder: str  # a private directory of this attempt, which exists; `stdout`, `stderr` and others are made in it
    stdin: bytes | None = None  # None: an empty input
    open_stdin: bool = False  # the input stays open for `Detacher.send`
    merge: bool = False  # both outputs go to `stdout`, in exact order
    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    # A text that no other program has in its environment, by which strays are found that left the group.
    mark: str = ""
    own: Mapping[str, str] = MappingProxyType({})  # more variables, which no other launch has


class Record(NamedTuple):
    """What finds a program again, after its owner died: to be kept before `Detached.release`."""

    pid: int
    start: str
    boot: str
    folder: str
    mark: str


class Detached(Protocol):
    """A program that was launched or found, and everything that it starts in turn."""

    record: Record
    waitable: int  # ready for `Host.wait_any` once the program has ended

    def release(self) -> None:
        """Let the program start. Until then it ends, without having run, when this process ends. Nothing happens to
        one that was ended meanwhile, as by a process that took it over."""

    def discard(self) -> None:
        """End a program that was not released; it never runs. Returns when it is gone."""

    @property
    def ended(self) -> Exit | None:
        """How it ended, with neither code nor signal where nobody can tell; None while it runs. What it left in its
        group is ended, too. Never blocks."""

    def ask_to_end(self) -> None:
        """Ask the whole tree to end: TERM to the group; on Windows CTRL_BREAK to the group."""

    def kill(self) -> None:
        """End the whole tree at once, also what left its group, and also after the program has ended."""

    def is_gone(self) -> bool:
        """Whether it has ended, and nothing is left of its group and, after `kill`, of what left that."""

    def close(self) -> None:
        """Let go of it. It runs on, unless it was never released."""


class Found(NamedTuple):
    """What became of a program whose owner died. Without `process` and `exit`, but `started`: it is gone and nobody
    knows how it ended."""

    process: Detached | None  # it lives
    exit: Exit | None  # it has ended, and so
    started: bool  # False: it never ran, so it may be started again


class Detacher(Protocol):
    """Starts and finds programs that outlive this process."""

    # Whether how a program ended can be told, also when no process of hearth had anything to do with it then.
    tells_later: bool

    @property
    def most(self) -> int:
        """How many at once one process can look after."""

    def launch(self, what: DetachedLaunch) -> Detached:
        """Start a program held back. Raises `errors.NotExecutable`, `errors.ArgumentsTooLong`, and `OSError` when
        the system refuses for another reason."""

    def find(self, record: Record) -> Found:
        """What became of a program. What is left of one that cannot be looked after is ended before this returns."""

    def send(self, folder: str, data: bytes, seconds: float) -> int:
        """Write to the open input of a running program, from whatever process; how many bytes it took within
        `seconds`. Raises `errors.InputClosed` when there is no such input or nobody reads it."""

    def close_stdin(self, folder: str) -> None:
        """Let the program read the end of its input. Twice is once; nothing happens where it is not open."""

    def close(self) -> None:
        """Let go of everything. Programs that were released run on."""
