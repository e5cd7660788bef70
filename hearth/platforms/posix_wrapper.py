"""The shell above a program that outlives hearth: what it is told to do, and what it notes.

It is told nothing but what this module wrote; the words of users are its parameters, which it hands on unread. Its
notes are whole lines of the file `status`:

    held            written before the shell starts, also so that the disk has a block for the others
    never           the pipe closed on which it waits for the release, so the program did not run
    started         written before the program begins
    open            the program has its input, which others write to
    exit 3          as shells tell it, so 128 + N stands for a signal, too

The file is appended to and never replaced, because a shell could do that only by starting another program.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from hearth.platforms import posix_processes as processes
from hearth.platforms.detached import HELD, STATUS, DetachedLaunch
from hearth.platforms.processes import Exit

END = "end"
STDIN = "stdin"
INPUT = "input"
CLOSE = "close"
ENVIRONMENT = "environment"

# $1 is the folder, the rest the program and its words. No variable is set that the program could see, since one of
# that name may be in its environment; traps that do something, unlike ignored signals, are not passed on. Until the
# program is there nobody hears TERM but the shell, so that who sends it makes the file `end` first: what is to become
# the program looks for it once it hears signals itself.
_HOLD = """
trap : HUP INT QUIT USR1 USR2 ALRM PIPE TERM
%s
exec 3>&2 2>/dev/null
IFS= read -r HEARTH_GO && [ "$HEARTH_GO" = go ] || { echo never >>"$1/status"; exit 125; }
unset HEARTH_GO
echo started >>"$1/status" || { echo "hearth cannot write to $1, so the program was not started" >&3; exit 125; }
%s
( [ ! -e "$1/end" ] || exit 143; shift; %s; exec "$@" 2>&3 3>&- %s ) <%s
set -- "$1" "$?"
echo "exit $2" >>"$1/status"
exit "$2"
"""

# What keeps an open input from its end is a process that waits for a line, or for the end of the shell, which has
# `close` open for writing. It opens the input once more to know that the program has it: that waits for a reader. The
# shell itself must hold neither end of the input, or nobody could see that it is over.
_OPEN = 'exec 7<>"$1/close" 8<"$1/close" 9<>"$1/input"; exec 6>"$1/input" 9<&-'
_KEEP = """
(
  trap '' HUP INT QUIT USR1 USR2 ALRM PIPE TERM
  exec 7<&- 3>&- >/dev/null
  : >"$1/input" && echo open >>"$1/status"
  read -r _ <&8
) &
exec 6>&-
"""


class _Input(NamedTuple):
    """How the shell opens a kind of input, keeps it open, closes the rest for the program, and the input's name."""

    opened: str
    kept: str
    closed: str
    name: str


_EMPTY = _Input("", "", "", "/dev/null")
_GIVEN = _Input("", "", "", '"$1/stdin"')
_LASTING = _Input(_OPEN, _KEEP, "7<&- 8<&-", '"$1/input"')

# Shells drop variables whose names they could not have, and take some for themselves. A program that has such gets its
# environment from a file, by a Python in between, which takes ten times as long to start.
_SHELLS_OWN = frozenset(
    {"BASHOPTS", "BASH_XTRACEFD", "EUID", "HEARTH_GO", "IFS", "LINENO", "OPTIND", "PPID", "SHELLOPTS", "UID"}
)
_BETWEEN = """
import os, sys
with open(sys.argv[1], "rb") as file:
    pairs = file.read().split(b"\\0")[:-1]
os.unlink(sys.argv[1])
try:
    os.execve(sys.argv[2], sys.argv[3:], dict(pair.split(b"=", 1) for pair in pairs))
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
"""


class Status(NamedTuple):
    """What the shell noted."""

    started: bool
    never: bool
    open: bool
    may_have_run: bool  # where the machine has not started anew since, so that each note is in the file
    exit: Exit | None


def status_of(folder: str) -> Status:
    """What the notes tell; a line that is not whole yet tells nothing."""
    lines: list[bytes] = []
    noted_at: float | None = None
    with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, STATUS), "rb") as file:
        lines = file.read(256).split(b"\n")[:-1]
        noted_at = os.fstat(file.fileno()).st_mtime
    codes = [line.removeprefix(b"exit ") for line in lines if line.startswith(b"exit ")]
    started = b"started" in lines
    # Nothing is noted after the end, so the file has been as it is since then.
    ended = exit_of(int(codes[0]))._replace(noted_at=noted_at) if codes and codes[0].isdigit() else None
    return Status(started, b"never" in lines, b"open" in lines, started or b"held" not in lines, ended)


def exit_of(code: int) -> Exit:
    """What a shell's code means: 128 + N is how it tells the signal N."""
    if code > 128 and code - 128 in signal.valid_signals():
        return Exit(None, code - 128, None, None)
    return Exit(code, None, None, None)


def script(what: DetachedLaunch) -> str:
    given = _LASTING if what.open_stdin else _EMPTY if what.stdin is None else _GIVEN
    limits = processes.limits(what.cpu_seconds, what.memory_bytes) or ":"
    return _HOLD % (given.opened, given.kept, limits, given.closed, given.name)


class Environments:
    """Environments as shells get them. That of the launch before is kept: most jobs have the same one."""

    def __init__(self) -> None:
        self._last: tuple[Mapping[str, str] | None, dict[bytes, bytes]] = None, {}

    def passed(self, variables: Mapping[str, str]) -> dict[bytes, bytes]:
        """Those that a shell passes on."""
        last, encoded = self._last
        if last is not variables:
            encoded = _passed(variables)
            self._last = variables, encoded
        return encoded


def _passed(variables: Mapping[str, str]) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in variables.items() if _is_passed(name)}


def words_and_environment(
    what: DetachedLaunch, environments: Environments
) -> tuple[tuple[str, ...], dict[bytes, bytes]]:
    """The words and the environment that the shell gets."""
    shared, own = environments.passed(what.environment), _passed(what.own)
    passed = {**shared, **own}
    if len(shared) == len(what.environment) and len(own) == len(what.own):
        return (what.program, *what.words[1:]), passed
    import sys

    variables = {**what.environment, **what.own}
    pairs = (os.fsencode(f"{name}={value}") + b"\0" for name, value in variables.items())
    write(what.folder, ENVIRONMENT, b"".join(pairs))
    path = os.path.join(what.folder, ENVIRONMENT)
    return (sys.executable, "-I", "-S", "-c", _BETWEEN, path, what.program, *what.words), passed


@lru_cache(maxsize=1_024)
def _is_passed(name: str) -> bool:
    return name.isascii() and name.isidentifier() and name not in _SHELLS_OWN


def prepare(what: DetachedLaunch) -> None:
    """Make the files that the shell finds in the folder."""
    _hold(what.folder)
    if what.open_stdin:
        for path in (os.path.join(what.folder, name) for name in (INPUT, CLOSE)):
            with contextlib.suppress(FileNotFoundError):  # of a launch that never ran
                os.unlink(path)
            os.mkfifo(path, 0o600)
    elif what.stdin is not None:
        write(what.folder, STDIN, what.stdin)


def _hold(folder: str) -> None:
    # What a file is emptied for and then given again is written to the disk at once by ext4, and waited for the next
    # time it is emptied. So one that says what it should is left alone.
    descriptor = os.open(os.path.join(folder, STATUS), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.read(descriptor, len(HELD) + 1) != HELD:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, HELD, 0)
    finally:
        os.close(descriptor)


def write(folder: str, name: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(os.path.join(folder, name), flags, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
