"""Running programs: what every platform offers. A program is a list of words; no shell reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class Stream(StrEnum):
    """Which of a program's two outputs."""

    STDOUT = "stdout"
    STDERR = "stderr"


class Launch(NamedTuple):
    """What to start. `program` is an absolute path; `words` begin with the name that the program sees as its own."""

    program: str
    words: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    stdin: int | None = None  # a descriptor that can be read; None: an empty input
    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    # A text that no other program has in its environment, by which strays are found that left the group.
    mark: str = ""


class Exit(NamedTuple):
    """How a program ended: with a code, or on POSIX by a signal."""

    code: int | None
    signal: int | None
    peak_memory_bytes: int | None
    cpu_ms: int | None
    noted_at: float | None = None  # when, where that was written down unseen: seconds of the system's clock


Deliver = Callable[[Stream, bytes], None]


class Process(Protocol):
    """A program that was started, its outputs, and everything that it starts in turn."""

    pid: int

    @property
    def ended(self) -> Exit | None:
        """How it ended; None while it runs."""

    @property
    def holds_pipes(self) -> bool:
        """Whether somebody still has an output open, which after the end is something that it left behind."""

    def pump(self, deliver: Deliver, seconds: float | None) -> bool:
        """Hand over output as it comes, until the program has ended and its outputs are closed (True). False: it has
        ended just now and outputs are still open, or `seconds` went by, or `wake` was called."""

    def wake(self) -> None:
        """Make a `pump` in another thread return."""

    def ask_to_end(self) -> None:
        """Ask the whole tree to end: TERM to the group; on Windows CTRL_BREAK to the group."""

    def interrupt(self) -> None:
        """Tell the whole tree what Ctrl-C at its terminal would: INT to the group; on Windows as `ask_to_end`."""

    def kill(self) -> None:
        """End the whole tree at once, also what left its group."""

    def close(self) -> None:
        """End what is left of the tree, and let go of everything."""


class Launcher(Protocol):
    """Starts programs. They end with this process, also when it is killed."""

    def launch(self, what: Launch) -> Process:
        """Start a program. Raises `errors.NotExecutable`, `errors.ArgumentsTooLong`, and `OSError` when the system
        refuses for another reason."""

    def close(self) -> None:
        """End what still runs."""
