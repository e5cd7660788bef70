"""Programs on Linux and macOS: a session each, one `poll` for outputs and end, a watchdog for when hearth is killed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from hearth.platforms.posix_programs import refusal
from hearth.platforms.processes import Deliver, Exit, Launch, Stream

if TYPE_CHECKING:
    import resource

CHUNK_BYTES = 65_536
FLOOD_BYTES = 1024 * 1024
_SHELL = "/bin/sh"
# Who left the group of a program: told by its mark, its pid, and the inodes of the pipes that are still held.
Strays = Callable[[str, int, Collection[int]], Iterable[int]]

# Its input closes when hearth ends, however that comes about; then the groups that are left are killed. They stand in
# a file, a line each, 0 for one that is over: unlike a message, writing there wakes nobody. A shell, because it starts
# in a millisecond; no word of a user ever reaches it.
_WATCHDOG = """
trap '' INT TERM HUP QUIT
read -r _
while read -r group <&1; do
  [ "$group" = 0 ] || kill -KILL "-$group" 2>/dev/null
done
"""
_LINE = b"%10d\n"
_LINE_BYTES = 11


class Watchdog:
    """The one process that outlives this one for a moment, to end what it had started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._file = -1
        self._owner = 0
        self._lines: dict[int, int] = {}  # group: its line
        self._free: list[int] = []

    def watch(self, group: int) -> None:
        """Have a group killed if this process ends before `forget`."""
        with self._lock:
            self._run()
            line = self._free.pop() if self._free else len(self._lines)
            self._lines[group] = line
            os.pwrite(self._file, _LINE % group, line * _LINE_BYTES)

    def forget(self, group: int) -> None:
        with self._lock:
            line = self._lines.pop(group, None)
            if line is not None and self._owner == os.getpid():
                self._free.append(line)
                os.pwrite(self._file, _LINE % 0, line * _LINE_BYTES)

    def close(self) -> None:
        """Have what is left killed now."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None and self._owner == os.getpid():
                assert process.stdin is not None
                process.stdin.close()
                process.wait()
                os.close(self._file)
                self._owner = 0

    def _run(self) -> None:
        if self._owner != os.getpid():  # the first time, and in a process that was forked off
            self._owner, self._process = os.getpid(), None
            self._lines, self._free = {}, []
            self._file = _scratch_file()
        if self._process is not None and self._process.poll() is not None:  # somebody killed it
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process = None
        if self._process is None:
            self._process = subprocess.Popen(
                [_SHELL, "-c", _WATCHDOG],
                stdin=subprocess.PIPE,
                stdout=self._file,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
            )


def _scratch_file() -> int:
    """A descriptor of an empty file without a name."""
    if memory := getattr(os, "memfd_create", None):
        return int(memory("hearth"))
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class PosixProcess:
    """A program in a session of its own."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        mark: str,
        watchdog: Watchdog,
        strays: Strays,
        exit_descriptor: int,
        own_peak_bytes: int,
    ) -> None:
        assert child.stdout is not None and child.stderr is not None
        self.pid = child.pid
        self._child = child
        self._mark = mark
        self._watchdog = watchdog
        self._strays = strays
        self._exit_descriptor = exit_descriptor
        self._own_peak_bytes = own_peak_bytes
        self._outputs = {child.stdout.fileno(): Stream.STDOUT, child.stderr.fileno(): Stream.STDERR}
        self._wake_read, self._wake_write = os.pipe()
        self._poll = select.poll()
        for descriptor in (*self._outputs, self._exit_descriptor, self._wake_read):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._chunk = CHUNK_BYTES
        self._ended: Exit | None = None
        self._reaped: tuple[int, resource.struct_rusage] | None = None
        self._closed = False

    @property
    def ended(self) -> Exit | None:
        return self._ended

    @property
    def holds_pipes(self) -> bool:
        return bool(self._outputs)

    def pump(self, deliver: Deliver, seconds: float | None) -> bool:
        was_running = self._ended is None
        deadline = None if seconds is None else time.monotonic() + seconds
        while self._outputs or self._ended is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = self._poll.poll(None if left is None else left * 1000)
            if not ready or not self._handle(ready, deliver):
                return False
            if was_running and self._ended is not None and self._outputs:
                return False
            if left == 0.0:
                return False
        return True

    def _handle(self, ready: list[tuple[int, int]], deliver: Deliver) -> bool:
        woken = False
        for descriptor, _ in ready:
            if descriptor == self._wake_read:
                os.read(descriptor, 4096)
                woken = True
            elif descriptor == self._exit_descriptor:
                self._note_end()
            else:
                self._read(descriptor, deliver)
        return not woken

    def _read(self, descriptor: int, deliver: Deliver) -> None:
        try:
            data = os.read(descriptor, self._chunk)
        except BlockingIOError:
            return
        if len(data) == CHUNK_BYTES:  # a full pipe: who prints that much gets room to go on meanwhile
            widen(descriptor)
            self._chunk = FLOOD_BYTES
        if data:
            deliver(self._outputs[descriptor], data)
        else:
            self._poll.unregister(descriptor)
            del self._outputs[descriptor]

    def _note_end(self) -> None:
        ended = self._look_without_reaping() if hasattr(os, "waitid") else self._reap(os.WNOHANG)
        if ended is None:
            return
        self._poll.unregister(self._exit_descriptor)
        self._ended = ended

    def _look_without_reaping(self) -> Exit | None:
        # WNOWAIT leaves the program a zombie, so that its group's number stays taken until `close`.
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        killed = found.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
        return Exit(None if killed else found.si_status, found.si_status if killed else None, None, None)

    def _reap(self, options: int = 0) -> Exit | None:
        """Python of macOS has no waitid before 3.13, so there the number is free once the end was seen."""
        if self._reaped is None:
            pid, status, usage = os.wait4(self.pid, options)
            if pid == 0:
                return None
            self._reaped = status, usage
        code = os.waitstatus_to_exitcode(self._reaped[0])
        return Exit(None, -code, None, None) if code < 0 else Exit(code, None, None, None)

    def wake(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b"!")

    def ask_to_end(self) -> None:
        self._signal_group(signal.SIGTERM)

    def interrupt(self) -> None:
        self._signal_group(signal.SIGINT)

    def kill(self) -> None:
        self._signal_group(signal.SIGKILL)
        pipes = {os.fstat(descriptor).st_ino for descriptor in self._outputs}
        end_strays(lambda: self._strays(self._mark, self.pid, pipes))

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._signal_group(signal.SIGKILL)
        ended = self._reap()
        assert ended is not None and self._reaped is not None
        status, usage = self._reaped
        self._child.returncode = os.waitstatus_to_exitcode(status)
        self._watchdog.forget(self.pid)
        self._ended = with_usage(self._ended or ended, usage, self._own_peak_bytes)
        for pipe in (self._child.stdout, self._child.stderr):
            assert pipe is not None
            pipe.close()
        for descriptor in (self._exit_descriptor, self._wake_read, self._wake_write):
            os.close(descriptor)


def end_strays(find: Callable[[], Iterable[int]]) -> None:
    """Kill what `find` finds until that is nothing."""
    for _ in range(3):  # a stray may start another one while it is looked for
        found: list[int] = []
        with contextlib.suppress(OSError):  # not every sandbox tells; the group is killed without
            found += find()
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def widen(pipe: int) -> None:
    """Let a pipe hold 1 MiB, where the system has that (Linux, fcntl(2)) and the user's share of pipes allows it."""
    import fcntl

    set_size = getattr(fcntl, "F_SETPIPE_SZ", None)
    if set_size is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, set_size, FLOOD_BYTES)


def peak_bytes(maximum_resident: int) -> int:
    """ru_maxrss in bytes: getrusage(2) counts kibibytes on Linux, bytes on macOS."""
    import sys

    return maximum_resident if sys.platform == "darwin" else maximum_resident * 1024


def with_usage(ended: Exit, usage: resource.struct_rusage, own_peak_bytes: int) -> Exit:
    """How a child of this process ended, with what it used."""
    peak = peak_bytes(usage.ru_maxrss)
    return ended._replace(
        # The system carries the peak of the process that forked over into the program, and tells the greater one.
        peak_memory_bytes=peak if peak > own_peak_bytes else None,
        cpu_ms=round((usage.ru_utime + usage.ru_stime) * 1000),
    )


def own_peak_bytes() -> int:
    import resource

    return peak_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _started(what: Launch) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _limited(what) or what.words,
        executable=_SHELL if _limited(what) else what.program,
        cwd=what.directory,
        env=dict(what.environment),
        stdin=subprocess.DEVNULL if what.stdin is None else what.stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )


def _limited(what: Launch) -> tuple[str, ...]:
    """The words by which a shell limits itself and becomes the program, which so never runs without its limits."""
    set_limits = limits(what.cpu_seconds, what.memory_bytes)
    script = f'{set_limits}; exec "$@"'
    return ("sh", "-c", script, "sh", what.program, *what.words[1:]) if set_limits else ()


def limits(cpu_seconds: int | None, memory_bytes: int | None) -> str:
    """What a shell has to run to limit itself and what it becomes; empty for no limits."""
    found = []
    if cpu_seconds is not None:  # XCPU first, which says what happened, then KILL
        found.append(f"ulimit -S -t {cpu_seconds}; ulimit -H -t {cpu_seconds + 1}")
    if memory_bytes is not None:
        found.append(f"ulimit -v {memory_bytes // 1024}")
    # A limit that is above one that holds already changes nothing.
    return "; ".join(f"{{ {limit}; }} 2>/dev/null" for limit in found)


def _discard(child: subprocess.Popen[bytes]) -> None:
    """End a program that could not be looked after."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdout, child.stderr):
        assert pipe is not None
        pipe.close()


class PosixLauncher:
    """Starts programs on Linux and macOS."""

    def __init__(
        self,
        exit_descriptor: Callable[[int], int],
        strays: Strays,
    ) -> None:
        self.exit_descriptor = exit_descriptor
        self.strays = strays
        self._watchdog = Watchdog()

    def launch(self, what: Launch) -> PosixProcess:
        try:
            child = _started(what)
        except OSError as error:
            raise refusal(error, what.program) from error
        with contextlib.ExitStack() as stack:
            stack.callback(_discard, child)
            self._watchdog.watch(child.pid)
            ends = self.exit_descriptor(child.pid)
            stack.callback(os.close, ends)
            process = PosixProcess(child, what.mark, self._watchdog, self.strays, ends, own_peak_bytes())
            stack.pop_all()
        return process

    def close(self) -> None:
        self._watchdog.close()
