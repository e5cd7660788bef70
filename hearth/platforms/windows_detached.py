"""Programs that outlive hearth on Windows, each in a job of its own that has a name.

Until the release a program is suspended and its job ends with this process. Then the program itself gets a handle of
the job, so that the job's name lasts as long as it does, and whoever takes over finds the whole tree by it. Notes are
whole lines of a file `status`: `held`, the job's name, the thread that is suspended, and `started`, which comes before
the thread runs. How a program ended is known by a handle of it, so to nobody if no process of hearth had one."""

from __future__ import annotations

import _winapi
import contextlib
import os
import sys
import time
from ctypes import wintypes
from typing import NamedTuple

from hearth.platforms import windows_inputs as inputs
from hearth.platforms import windows_jobs as jobs
from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_paths as paths
from hearth.platforms import windows_processes as processes
from hearth.platforms.detached import STDERR, STDOUT, DetachedLaunch, Found, Record
from hearth.platforms.processes import Exit

assert sys.platform == "win32"

STATUS = "status"
STDIN = "stdin"
NOT_STARTED = 125  # the code of what could not be released, as on POSIX
MOST = 60  # what one wait takes, less the worker's own
UNKNOWN = Exit(None, None, None, None)
_PROCESS_TERMINATE = 0x1
_PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
_THREAD_SUSPEND_RESUME = 0x2
_FAILED = 0xFFFFFFFF
_ERROR_ALREADY_EXISTS = 183

for _name, _result, _arguments in (
    ("OpenThread", wintypes.HANDLE, (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)),
    ("SuspendThread", wintypes.DWORD, (wintypes.HANDLE,)),
    ("GetThreadId", wintypes.DWORD, (wintypes.HANDLE,)),
):
    _call = getattr(nt.kernel32, _name)
    _call.restype, _call.argtypes = _result, _arguments


class WindowsDetached:
    """A program by its handle. `thread` and `notes` where it is held back by this process."""

    def __init__(
        self,
        record: Record,
        handle: int,
        job: jobs.Job | None,
        *,
        thread: int = 0,
        notes: int = -1,
        held_input: inputs.Held | None = None,
    ) -> None:
        self.record = record
        self.waitable = handle
        self._job = job
        self._thread = thread
        self._notes = notes
        self._input = held_input
        self._ended: Exit | None = None
        self._closed = False

    def release(self) -> None:
        assert self._job is not None
        try:
            self._job.outlive(self.waitable)
            os.write(self._notes, b"started\n")
            nt.kernel32.ResumeThread(self._thread)
        except OSError:  # a process that took over has ended it, or nothing can be noted, so that it must not run
            self._job.terminate(NOT_STARTED)
        finally:
            self._let_go_of_thread()

    def discard(self) -> None:
        assert self._job is not None
        self._job.end(processes.KILLED, processes.KILL_SECONDS)
        self._ended = UNKNOWN
        self.close()

    @property
    def ended(self) -> Exit | None:
        if self._ended is None and not self._closed and processes.is_set(self.waitable):
            code = _winapi.GetExitCodeProcess(self.waitable)
            self._ended = processes.with_usage(Exit(code, None, None, None), self.waitable, self._job)
            if self._job is not None:
                self._job.terminate(processes.KILLED)
        return self._ended

    def ask_to_end(self) -> None:
        if self.ended is None:
            processes.ask_to_end(self.record.pid)

    def kill(self) -> None:
        if self._job is not None:
            self._job.terminate(processes.KILLED)
        else:
            with contextlib.suppress(OSError):
                _winapi.TerminateProcess(self.waitable, processes.KILLED)
            _end_marked(self.record.mark)

    def is_gone(self) -> bool:
        if self.ended is None:
            return False
        return not self._job.pids() if self._job is not None else not _marked(self.record.mark)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._let_go_of_thread()
        if self._input is not None:
            inputs.close_own(self._input)
        if self._job is not None:
            self._job.close()
        nt.close(self.waitable)
        self.waitable = 0

    def _let_go_of_thread(self) -> None:
        if self._thread:
            nt.close(self._thread)
            os.close(self._notes)
            self._thread = 0


class WindowsDetacher:
    """Starts and finds programs on Windows 10 and later."""

    tells_later = False

    def __init__(self) -> None:
        self._breakaway = _winapi.CREATE_BREAKAWAY_FROM_JOB

    @property
    def most(self) -> int:
        return MOST

    def launch(self, what: DetachedLaunch) -> WindowsDetached:
        """As `Detacher.launch`. Raises `UnsafeArgument` and, for a batch file on a share, `InvalidName`, too."""
        folder = paths.extended(what.folder)
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as childs:
            notes = os.open(os.path.join(folder, STATUS), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_BINARY)
            undo.callback(os.close, notes)
            name, job = _named_job(what)
            undo.callback(job.close)
            held_input = None
            if what.open_stdin:
                pipe, writer, stdin = inputs.make()
                undo.callback(nt.close, writer)
                held_input = inputs.Held(os.getpid(), nt.process_start(nt.kernel32.GetCurrentProcess()), writer, pipe)
                inputs.tell(folder, held_input)
            else:
                stdin = _input(folder, what.stdin)
            startup = _startup(what, folder, processes.kept(childs, stdin), childs)
            os.write(notes, f"held\njob {name}\n".encode("ascii"))
            handle, thread, pid = self._suspended(what, startup)
            undo.callback(nt.close, handle)
            undo.callback(nt.close, thread)
            undo.callback(_winapi.TerminateProcess, handle, processes.KILLED)
            job.add(handle)
            os.write(notes, f"thread {nt.kernel32.GetThreadId(thread)}\n".encode("ascii"))
            record = Record(pid, nt.process_start(handle), "", what.folder, what.mark)
            undo.pop_all()
        return WindowsDetached(record, handle, job, thread=thread, notes=notes, held_input=held_input)

    def _suspended(self, what: DetachedLaunch, startup: processes.Startup) -> tuple[int, int, int]:
        what = what._replace(environment={**what.environment, **what.own})
        # What a job that lets nobody leave holds ends with that job, so its programs, too.
        try:
            return processes.start_suspended(what, startup, self._breakaway)
        except Exception as error:
            if not self._breakaway or not isinstance(error.__cause__, PermissionError):
                raise
        started = processes.start_suspended(what, startup)
        self._breakaway = 0
        return started

    def find(self, record: Record) -> Found:
        noted = _notes_of(record.folder)
        job = jobs.Job.open(noted.job) if noted.job else None
        with contextlib.ExitStack() as opened:
            if job is not None:
                opened.callback(job.close)
            handle = _opened(record)
            if handle is not None:
                opened.callback(nt.close, handle)
                if processes.is_set(handle):
                    code = _winapi.GetExitCodeProcess(handle)
                    _end_rest(job, record)
                    return Found(None, Exit(code, None, None, None) if noted.may_have_run else None, noted.may_have_run)
                if not _is_held(handle, noted):
                    held_input = inputs.take_over(paths.extended(record.folder))
                    opened.pop_all()
                    return Found(WindowsDetached(record, handle, job, held_input=held_input), None, started=True)
                _winapi.TerminateProcess(handle, processes.KILLED)
            _end_rest(job, record)
            return Found(None, None, noted.may_have_run and handle is None)

    def send(self, folder: str, data: bytes, seconds: float) -> int:
        return inputs.send(paths.extended(folder), data, seconds)

    def close_stdin(self, folder: str) -> None:
        inputs.close(paths.extended(folder))

    def close(self) -> None:
        pass


class Notes(NamedTuple):
    """What the file tells; a line that is not whole yet tells nothing."""

    job: str | None
    thread: int | None
    started: bool
    may_have_run: bool


def _notes_of(folder: str) -> Notes:
    lines: list[str] = []
    with (
        contextlib.suppress(FileNotFoundError),
        open(os.path.join(paths.extended(folder), STATUS), encoding="ascii", errors="replace", newline="") as file,
    ):
        lines = file.read(1024).split("\n")[:-1]
    told = dict(line.partition(" ")[::2] for line in lines)
    started = "started" in told
    thread = int(told["thread"]) if told.get("thread", "").isdigit() else None
    return Notes(told.get("job"), thread, started, started or "held" not in told)


def _named_job(what: DetachedLaunch) -> tuple[str, jobs.Job]:
    for space in ("Global\\", "Local\\"):
        name = f"{space}hearth-{os.urandom(16).hex()}"
        try:
            return name, jobs.Job(cpu_seconds=what.cpu_seconds, memory_bytes=what.memory_bytes, name=name)
        except PermissionError:
            if space == "Local\\":
                raise
    raise AssertionError


def _input(folder: str, given: bytes | None) -> int:
    path = "NUL"
    if given is not None:
        path = os.path.join(folder, STDIN)
        with open(path, "wb") as file:
            file.write(given)
    return nt.open_path(path, nt.FILE_GENERIC_READ, share=nt.SHARE_ALL)


def _startup(what: DetachedLaunch, folder: str, stdin: int, childs: contextlib.ExitStack) -> processes.Startup:
    handles = [
        processes.kept(
            childs,
            nt.open_path(
                os.path.join(folder, name), nt.FILE_GENERIC_APPEND, share=nt.SHARE_ALL, disposition=nt.OPEN_ALWAYS
            ),
        )
        for name in ((STDOUT,) if what.merge else (STDOUT, STDERR))
    ]
    return processes.Startup(stdin, handles[0], handles[-1])


def _opened(record: Record) -> int | None:
    """A handle of the recorded process, also of one that has ended and that somebody still has a handle of."""
    access = _PROCESS_QUERY_LIMITED_INFORMATION | nt.SYNCHRONIZE | _PROCESS_TERMINATE
    handle = nt.kernel32.OpenProcess(access, False, record.pid)
    if not handle:
        return None
    with contextlib.suppress(OSError):
        if nt.process_start(handle) == record.start:
            return int(handle)
    nt.close(handle)
    return None


def _is_held(process: int, noted: Notes) -> bool:
    """Whether a program has not begun; then it does not any more, whatever its owner still does."""
    thread = nt.kernel32.OpenThread(_THREAD_SUSPEND_RESUME, False, noted.thread or 0)
    if not thread:
        return False
    with nt.closing(thread):
        before = nt.kernel32.SuspendThread(thread)
        # A debugger may have stopped one that runs: such a one has used the processor.
        if before not in (0, _FAILED) and not (noted.started and processes.cpu_ms(process)):
            return True
        if before != _FAILED:
            nt.kernel32.ResumeThread(thread)
    return False


def _end_rest(job: jobs.Job | None, record: Record) -> None:
    """End what is left of a program, and wait until it is gone."""
    if job is not None:
        job.end(processes.KILLED, processes.KILL_SECONDS)
    deadline = time.monotonic() + processes.KILL_SECONDS
    while _end_marked(record.mark) and time.monotonic() < deadline:
        time.sleep(0.02)


def _marked(mark: str) -> list[int]:
    if not mark:
        return []
    from hearth.platforms.psutil_table import marked

    return [pid for pid in marked(mark) if pid != os.getpid()]


def _end_marked(mark: str) -> bool:
    """End what has the mark, also out of its job; whether there was anything."""
    found = _marked(mark)
    for pid in found:
        handle = nt.kernel32.OpenProcess(_PROCESS_TERMINATE, False, pid)
        if handle:
            with nt.closing(handle), contextlib.suppress(OSError):
                _winapi.TerminateProcess(handle, processes.KILLED)
    return bool(found)
