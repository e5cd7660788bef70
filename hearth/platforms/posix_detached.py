"""Programs that outlive hearth on Linux and macOS, each below a shell that holds it back and notes how it ended."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from hearth.platforms import posix_inputs
from hearth.platforms import posix_processes as processes
from hearth.platforms import posix_wrapper as wrapper
from hearth.platforms.detached import STDERR, STDOUT, DetachedLaunch, Found, Record
from hearth.platforms.posix_programs import refusal, refuse_unstartable
from hearth.platforms.posix_wrapper import exit_of, status_of
from hearth.platforms.processes import Exit

SHELL = "/bin/sh"
UNKNOWN = Exit(None, None, None, None)
DECIDE_SECONDS = 0.25  # until a held program whose owner died has noticed that, or has begun
END_SECONDS = 2.0  # until what was killed is gone
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
# A descriptor of a running program and one of its release; a launch needs some more for a moment.
_PER_PROGRAM, _OWN_DESCRIPTORS = 2, 64
MOST = 512


class PosixDetached:
    """A program below its shell: `own` where this process is the parent, which the system tells how it ended."""

    def __init__(self, record: Record, waitable: int, detacher: PosixDetacher, *, own: bool, go: int = -1) -> None:
        self.record = record
        self.waitable = waitable
        self._detacher = detacher
        self._own = own
        self._go = go
        self._ended: Exit | None = None
        self._killed = False
        self._swept = False  # whether also what left the group was ended

    def release(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, b"go\n")
        self._close_go()

    def discard(self) -> None:
        self._signal_group(signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.record.pid, 0)
        self._ended = UNKNOWN
        self.close()

    @property
    def ended(self) -> Exit | None:
        if self._ended is None and self.waitable >= 0 and _is_ready(self.waitable):
            self._ended = self._reap() if self._own else self._settle()
        return self._ended

    def _reap(self) -> Exit:
        # Still a zombie, the shell keeps the group's number from being given to another.
        self._signal_group(signal.SIGKILL)
        try:
            _, status, usage = os.wait4(self.record.pid, 0)
        except ChildProcessError:  # somebody else in this process waited for it
            return self._settle()
        if not os.WIFEXITED(status):
            return self._without_shell()
        return processes.with_usage(exit_of(os.WEXITSTATUS(status)), usage, self._detacher.own_peak_bytes)

    def _settle(self) -> Exit:
        """How a program ended whose shell was the child of another process, by what the shell noted."""
        noted = status_of(self.record.folder).exit
        if noted is None:
            return self._without_shell()
        self._detacher.end_group(self.record)
        return noted

    def _without_shell(self) -> Exit:
        noted = status_of(self.record.folder).exit
        if noted is None:
            self._sweep()
        return noted or (Exit(None, int(signal.SIGKILL), None, None) if self._killed else UNKNOWN)

    def ask_to_end(self) -> None:
        if self._ended is None:
            with contextlib.suppress(OSError):  # it is asked all the same, only not before it is there
                wrapper.write(self.record.folder, wrapper.END, b"")
            self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        self._killed = True
        if self._ended is None:
            self._signal_group(signal.SIGKILL)
        self._sweep()

    def _sweep(self) -> None:
        self._swept = True
        processes.end_strays(lambda: self._detacher.strays_of(self.record))

    def _signal_group(self, number: int) -> None:
        # The number of a shell that is no child of this process is free as soon as it has ended.
        if self._own or not _is_ready(self.waitable):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.record.pid, number)

    def is_gone(self) -> bool:
        if self.ended is None or self._detacher.group_lives(self.record):
            return False
        return not (self._swept and self._detacher.strays_of(self.record))

    def close(self) -> None:
        self._close_go()
        if self.waitable >= 0:
            os.close(self.waitable)
            self.waitable = -1
            if self._own and self._ended is None:
                self._detacher.let_go(self.record.pid)

    def _close_go(self) -> None:
        if self._go >= 0:
            os.close(self._go)
            self._go = -1


class PosixDetacher:
    """Starts and finds programs on Linux and macOS. `start` tells when a process began, `boot` the machine."""

    tells_later = True

    def __init__(
        self,
        exit_descriptor: Callable[[int], int],
        strays: processes.Strays,
        group: Callable[[int], bool],
        start: Callable[[int], str | None],
        boot: Callable[[], str],
        shell: str = SHELL,
    ) -> None:
        self._exit_descriptor = exit_descriptor
        self._strays = strays
        self._group = group
        self._start = start
        self._boot = boot()
        self._shell = shell
        self._let_go: list[int] = []
        self._environments = wrapper.Environments()
        self.own_peak_bytes = 0  # at the last launch

    @property
    def most(self) -> int:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return MOST if soft < 0 else min(MOST, max(1, (soft - _OWN_DESCRIPTORS) // _PER_PROGRAM))

    def launch(self, what: DetachedLaunch) -> PosixDetached:
        self._reap_let_go()
        refuse_unstartable(what.program)
        wrapper.prepare(what)
        wait, go = os.pipe()
        try:
            pid = self._spawned(what, wait)
            waitable = self._watched(pid)
        except BaseException:
            os.close(go)
            raise
        finally:
            os.close(wait)
        self.own_peak_bytes = processes.own_peak_bytes()
        record = Record(pid, self._start(pid) or "", self._boot, what.folder, what.mark)
        return PosixDetached(record, waitable, self, own=True, go=go)

    def _spawned(self, what: DetachedLaunch, wait: int) -> int:
        """The number of a shell that waits for the other end of a pipe."""
        words, environment = wrapper.words_and_environment(what, self._environments)
        outputs: list[int] = []
        try:
            for name in (STDOUT,) if what.merge else (STDOUT, STDERR):
                outputs.append(_output(what.folder, name))  # noqa: PERF401 - those before one that fails are closed
            try:
                child = subprocess.Popen(
                    ("sh", "-c", wrapper.script(what), "sh", what.folder, *words),
                    executable=self._shell,
                    cwd=what.directory,
                    env=environment,
                    stdin=wait,
                    stdout=outputs[0],
                    stderr=outputs[-1],
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                raise refusal(error, what.program) from error
        finally:
            for each in outputs:
                os.close(each)
        child.returncode = 0  # it is waited for here, not by subprocess
        return child.pid

    def _watched(self, pid: int) -> int:
        try:
            return self._exit_descriptor(pid)
        except BaseException:
            _end(pid)
            raise

    def find(self, record: Record) -> Found:
        if record.boot != self._boot:
            noted = status_of(record.folder)
            return Found(None, noted.exit, not noted.never)
        if (process := self._alive(record)) is not None:
            if self._begins(process):
                return Found(process, None, started=True)
            process.kill()
            _is_ready(process.waitable, END_SECONDS)
            process.close()
        noted = status_of(record.folder)
        left = self.strays_of if noted.exit is None else self._left_in_group
        processes.end_strays(lambda: left(record))
        for pause in _pauses(END_SECONDS):
            if not left(record):
                break
            time.sleep(pause)
        return Found(None, noted.exit, noted.may_have_run)

    def _alive(self, record: Record) -> PosixDetached | None:
        if self._start(record.pid) != record.start:
            return None
        try:
            waitable = self._exit_descriptor(record.pid)
        except OSError as error:
            if error.errno in (errno.ESRCH, errno.EINVAL):
                return None
            raise
        # What was opened is what is meant, if that has the number still; a zombie has ended.
        if self._start(record.pid) != record.start or _is_ready(waitable):
            os.close(waitable)
            return None
        return PosixDetached(record, waitable, self, own=False)

    def _begins(self, process: PosixDetached) -> bool:
        """Whether a program whose owner died was let go. One that is held notices at once, unless its owner lives,
        as when that was stopped for a while."""
        for pause in _pauses(DECIDE_SECONDS):
            if status_of(process.record.folder).started:
                return True
            if _is_ready(process.waitable, pause):
                return False
        return False

    def send(self, folder: str, data: bytes, seconds: float) -> int:
        return posix_inputs.send(folder, data, seconds)

    def close_stdin(self, folder: str) -> None:
        posix_inputs.close(folder)

    def strays_of(self, record: Record) -> list[int]:
        """What has the program's mark; none where the system does not tell."""
        if not record.mark:
            return []
        with contextlib.suppress(OSError):
            return [pid for pid in self._strays(record.mark, record.pid, ()) if pid != os.getpid()]
        return []

    def end_group(self, record: Record) -> None:
        """End what is left in a group, whose number alone could mean another one by now."""
        processes.end_strays(lambda: self._left_in_group(record))

    def _left_in_group(self, record: Record) -> list[int]:
        return [pid for pid in self.strays_of(record) if _group_of(pid) == record.pid]

    def group_lives(self, record: Record) -> bool:
        try:
            os.killpg(record.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return self._group(record.pid)  # not only zombies, whose parents leave them

    def let_go(self, pid: int) -> None:
        """Wait for a child some time after it has ended, so that it does not stay a zombie."""
        self._let_go.append(pid)

    def _reap_let_go(self) -> None:
        self._let_go = [pid for pid in self._let_go if _runs(pid)]

    def close(self) -> None:
        self._reap_let_go()


def _output(folder: str, name: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(os.path.join(folder, name), flags, 0o600)


def _end(pid: int) -> None:
    """End a shell that could not be looked after."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _runs(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _is_ready(descriptor: int, seconds: float = 0) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _pauses(seconds: float) -> Iterator[float]:
    """Growing pauses for the caller to make, until `seconds` are over."""
    deadline, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while time.monotonic() < deadline:
        yield pause
        pause = min(pause * 2, _LONGEST_PAUSE)
