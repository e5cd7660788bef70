"""Programs on Windows: a job each, and one wait for outputs, end and wake."""

from __future__ import annotations

import _winapi
import contextlib
import ctypes
import itertools
import ntpath
import os
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from ctypes import wintypes

from hearth.errors import InvalidName, NotExecutable
from hearth.platforms import windows_jobs as jobs
from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_programs as programs
from hearth.platforms.detached import DetachedLaunch
from hearth.platforms.processes import Deliver, Exit, Launch, Stream

assert sys.platform == "win32"

CHUNK_BYTES = 65_536
KILLED = 1  # the exit code of what was ended by force, as taskkill gives it
KILL_SECONDS = 5.0
_CREATE_SUSPENDED = 0x4
_CREATE_UNICODE_ENVIRONMENT = 0x400
_DETACHED_PROCESS = 0x8
_FIRST_PIPE_INSTANCE = 0x80000
_REJECT_REMOTE_CLIENTS = 0x8
_LONGEST_DIRECTORY = 258  # of a program that starts
_ERROR_BAD_EXE_FORMAT = 193
_ERROR_FILENAME_EXCED_RANGE = 206
_ERROR_DIRECTORY = 267
_ERROR_ELEVATION_REQUIRED = 740

# Only what is attached to a console can ask its processes to end, and hearth is at another console or at none.
_ASK = (
    "import ctypes, sys; k = ctypes.WinDLL('kernel32'); pid = int(sys.argv[1]);"
    "k.AttachConsole(pid) and k.GenerateConsoleCtrlEvent(1, pid)"  # CTRL_BREAK to its group
)

_DECLARED: tuple[tuple[str, object, tuple[object, ...]], ...] = (
    ("CreateEventW", wintypes.HANDLE, (ctypes.c_void_p, wintypes.BOOL, wintypes.BOOL, wintypes.LPCWSTR)),
    ("SetEvent", wintypes.BOOL, (wintypes.HANDLE,)),
    ("ResetEvent", wintypes.BOOL, (wintypes.HANDLE,)),
    ("ResumeThread", wintypes.DWORD, (wintypes.HANDLE,)),
    ("GetSystemDirectoryW", wintypes.UINT, (wintypes.LPWSTR, wintypes.UINT)),
    ("K32GetProcessMemoryInfo", wintypes.BOOL, (wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD)),
)
for _name, _result, _arguments in _DECLARED:
    _call = getattr(nt.kernel32, _name)
    _call.restype, _call.argtypes = _result, _arguments

_numbers = itertools.count(1)


class _MemoryCounters(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("page_faults", wintypes.DWORD),
        ("peak_working_set", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 7),
    )


class _Output:
    """The reading end of an output, always with one read under way."""

    def __init__(self, stream: Stream, pipe: int) -> None:
        self.stream = stream
        self._pipe = pipe
        self._read: _winapi.Overlapped | None = None
        self._start()

    def _start(self) -> None:
        try:
            self._read, _ = _winapi.ReadFile(self._pipe, CHUNK_BYTES, overlapped=True)
        except BrokenPipeError:
            self._read = None

    @property
    def event(self) -> int | None:
        """What is signalled when there is something to take; None when the output is closed."""
        return self._read.event if self._read else None

    def take(self) -> bytes:
        """What the read that has come to its end brought."""
        assert self._read is not None
        try:
            self._read.GetOverlappedResult(True)
        except BrokenPipeError:
            self._read = None
            return b""
        data = bytes(self._read.getbuffer() or b"")
        self._start()
        return data

    def close(self) -> None:
        if self._read is not None:
            self._read.cancel()
            with contextlib.suppress(OSError):
                self._read.GetOverlappedResult(True)
            self._read = None
        nt.close(self._pipe)


class WindowsProcess:
    """A program in a job of its own."""

    def __init__(self, pid: int, handle: int, job: jobs.Job, outputs: list[_Output]) -> None:
        self.pid = pid
        self._handle = handle
        self._job = job
        self._outputs = outputs
        self._woken = nt.kernel32.CreateEventW(None, True, False, None)
        self._ended: Exit | None = None
        self._closed = False
        self._lock = threading.Lock()  # `wake` and `kill` may come while another thread closes

    @property
    def ended(self) -> Exit | None:
        return self._ended

    @property
    def holds_pipes(self) -> bool:
        return any(output.event for output in self._outputs)

    def pump(self, deliver: Deliver, seconds: float | None) -> bool:
        was_running = self._ended is None
        deadline = None if seconds is None else time.monotonic() + seconds
        while self.holds_pipes or self._ended is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._wait(left):
                return False
            woken = is_set(self._woken)
            if woken:
                nt.kernel32.ResetEvent(self._woken)
            self._read(deliver)
            self._note_end()
            if woken or left == 0.0 or (was_running and self._ended is not None and self.holds_pipes):
                return False
        return True

    def _wait(self, seconds: float | None) -> bool:
        """Whether there is something to do."""
        sources = [self._woken, *(output.event for output in self._outputs if output.event)]
        if self._ended is None:
            sources.append(self._handle)
        limit = _winapi.INFINITE if seconds is None else min(round(seconds * 1000 + 0.5), _winapi.INFINITE - 1)
        try:
            return _winapi.WaitForMultipleObjects(sources, False, limit) != _winapi.WAIT_TIMEOUT
        except InterruptedError:  # Ctrl-C, which Python handles once this call is over
            return True

    def _read(self, deliver: Deliver) -> None:
        for output in self._outputs:
            if output.event and is_set(output.event) and (data := output.take()):
                deliver(output.stream, data)

    def _note_end(self) -> None:
        if self._ended is None and is_set(self._handle):
            self._ended = Exit(_winapi.GetExitCodeProcess(self._handle), None, None, None)

    def wake(self) -> None:
        with self._lock:
            if not self._closed:
                nt.kernel32.SetEvent(self._woken)

    def ask_to_end(self) -> None:
        ask_to_end(self.pid)

    def interrupt(self) -> None:
        self.ask_to_end()  # a group of its own ignores Ctrl-C

    def kill(self) -> None:
        with self._lock:
            if not self._closed:
                self._job.terminate(KILLED)

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._job.end(KILLED, KILL_SECONDS)
        self._note_end()
        self._ended = with_usage(self._ended or Exit(KILLED, None, None, None), self._handle, self._job)
        for output in self._outputs:
            output.close()
        self._job.close()
        for handle in (self._handle, self._woken):
            nt.close(handle)


def ask_to_end(group: int) -> None:
    """Send CTRL_BREAK to a program that was started with a console and a group of its own, and to its group."""
    words = [sys.executable, "-I", "-S", "-c", _ASK, str(group)]
    with contextlib.suppress(OSError):
        handle, thread, _, _ = _winapi.CreateProcess(
            sys.executable,
            programs.program_line(words),
            None,
            None,
            False,
            _DETACHED_PROCESS,
            environment({}),
            None,
            None,
        )
        nt.close(thread)
        nt.close(handle)


def is_set(handle: int) -> bool:
    return _winapi.WaitForSingleObject(handle, 0) == _winapi.WAIT_OBJECT_0


def with_usage(ended: Exit, process: int, job: jobs.Job | None) -> Exit:
    """How a program ended, with what it used."""
    used = max(job.cpu_ms() if job else 0, cpu_ms(process))
    return ended._replace(peak_memory_bytes=peak_bytes(process), cpu_ms=used)


def peak_bytes(process: int) -> int | None:
    counters = _MemoryCounters(size=ctypes.sizeof(_MemoryCounters))
    if not nt.kernel32.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size):
        return None
    return int(counters.peak_working_set) or None


def cpu_ms(process: int) -> int:
    times = [wintypes.FILETIME() for _ in range(4)]
    if not nt.kernel32.GetProcessTimes(process, *map(ctypes.byref, times)):
        return 0
    return round(sum(time.dwHighDateTime << 32 | time.dwLowDateTime for time in times[2:]) / 10_000)


class Startup:
    """What `_winapi.CreateProcess` reads as STARTUPINFOEX: nothing but the three standard handles is inherited."""

    def __init__(self, stdin: int, stdout: int, stderr: int) -> None:
        self.dwFlags = _winapi.STARTF_USESTDHANDLES
        self.wShowWindow = 0
        self.hStdInput = stdin
        self.hStdOutput = stdout
        self.hStdError = stderr
        self.lpAttributeList = {"handle_list": list({stdin, stdout, stderr})}


class WindowsLauncher:
    """Starts programs on Windows 10 and later. Each ends with this process, whose handle is the last of its job."""

    def __init__(self) -> None:
        self._started: weakref.WeakSet[WindowsProcess] = weakref.WeakSet()

    def launch(self, what: Launch) -> WindowsProcess:
        """As `Launcher.launch`. Raises `UnsafeArgument` and, for a batch file on a share, `InvalidName`, too."""
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as childs:
            job = jobs.Job(cpu_seconds=what.cpu_seconds, memory_bytes=what.memory_bytes)
            undo.callback(job.close)
            stdin = kept(childs, _input(what.stdin))
            outputs, handles = [], []
            for stream in (Stream.STDOUT, Stream.STDERR):
                ours, theirs = _pipe()
                handles.append(kept(childs, theirs))
                outputs.append(_Output(stream, ours))
                undo.callback(outputs[-1].close)
            pid, handle = _start(what, Startup(stdin, *handles), job)
            undo.pop_all()
        process = WindowsProcess(pid, handle, job, outputs)
        self._started.add(process)
        return process

    def close(self) -> None:
        for process in list(self._started):
            process.kill()


def kept(stack: contextlib.ExitStack, handle: int) -> int:
    os.set_handle_inheritable(handle, True)
    stack.callback(nt.close, handle)
    return handle


def _input(descriptor: int | None) -> int:
    if descriptor is None:
        return _winapi.CreateFile("NUL", _winapi.GENERIC_READ, 0, _winapi.NULL, _winapi.OPEN_EXISTING, 0, _winapi.NULL)
    import msvcrt

    return nt.duplicate(msvcrt.get_osfhandle(descriptor))


def _pipe() -> tuple[int, int]:
    """A pipe whose reading end, the first, takes overlapped reads, which anonymous pipes do not."""
    name = rf"\\.\pipe\hearth-{os.getpid()}-{next(_numbers)}-{os.urandom(8).hex()}"
    reader = _winapi.CreateNamedPipe(
        name,
        _winapi.PIPE_ACCESS_INBOUND | _winapi.FILE_FLAG_OVERLAPPED | _FIRST_PIPE_INSTANCE,
        _winapi.PIPE_WAIT | _REJECT_REMOTE_CLIENTS,
        1,
        0,
        CHUNK_BYTES,
        0,
        _winapi.NULL,
    )
    try:
        writer = _winapi.CreateFile(name, _winapi.GENERIC_WRITE, 0, _winapi.NULL, _winapi.OPEN_EXISTING, 0, 0)
    except BaseException:
        nt.close(reader)
        raise
    with contextlib.suppress(OSError):  # it is connected already, which some systems call an error
        _winapi.ConnectNamedPipe(reader, overlapped=True).GetOverlappedResult(True)
    return reader, writer


def _start(what: Launch, startup: Startup, job: jobs.Job) -> tuple[int, int]:
    handle, thread, pid = start_suspended(what, startup)
    # It runs nothing before it is in its job, so that nothing it starts is outside.
    try:
        job.add(handle)
        if nt.kernel32.ResumeThread(thread) == 0xFFFFFFFF:
            raise nt.last_error(what.program)
    except BaseException:
        _winapi.TerminateProcess(handle, KILLED)
        nt.close(handle)
        raise
    finally:
        nt.close(thread)
    return pid, handle


def start_suspended(what: Launch | DetachedLaunch, startup: Startup, more_flags: int = 0) -> tuple[int, int, int]:
    """A program that has not begun: handles of it and of its thread, and its number. Raises as `Launcher.launch`."""
    if len(what.directory) > _LONGEST_DIRECTORY:
        raise nt.windows_error(_ERROR_FILENAME_EXCED_RANGE, what.directory)
    program, line = command(what)
    flags = _winapi.CREATE_NO_WINDOW | _winapi.CREATE_NEW_PROCESS_GROUP
    flags |= _CREATE_SUSPENDED | _CREATE_UNICODE_ENVIRONMENT | more_flags
    try:
        handle, thread, pid, _ = _winapi.CreateProcess(
            program, line, None, None, True, flags, environment(what.environment), what.directory, startup
        )
    except OSError as error:
        raise _refusal(error, what) from error
    return handle, thread, pid


def command(what: Launch | DetachedLaunch) -> tuple[str, str]:
    """The file that is started, and the line that it gets."""
    if not programs.is_batch(what.program):
        return what.program, programs.program_line(what.words)
    if what.directory.startswith("\\\\"):
        raise InvalidName(
            "cmd.exe, which runs batch files, cannot work in a directory of a share",
            path=what.directory,
            hint="map the share to a drive letter",
        )
    interpreter = _cmd()
    return interpreter, programs.batch_line(what.program, what.words, interpreter)


def _cmd() -> str:
    # Not %ComSpec%, which whoever sets the environment could make any program.
    buffer = ctypes.create_unicode_buffer(260)
    nt.kernel32.GetSystemDirectoryW(buffer, len(buffer))
    return ntpath.join(buffer.value, "cmd.exe")


def environment(wanted: Mapping[str, str]) -> dict[str, str]:
    """As Windows keeps it: sorted, one variable of a name whatever its case, and with SystemRoot, without which
    programs find neither their libraries nor the network."""
    found = {name.upper(): (name, value) for name, value in wanted.items()}
    if "SYSTEMROOT" not in found and (root := os.environ.get("SYSTEMROOT")):
        found["SYSTEMROOT"] = ("SYSTEMROOT", root)
    return dict(found[key] for key in sorted(found))


def _refusal(error: OSError, what: Launch | DetachedLaunch) -> Exception:
    """What it means that the system did not start a program."""
    if error.winerror == _ERROR_BAD_EXE_FORMAT:
        return programs.not_startable(what.program)
    if error.winerror == _ERROR_ELEVATION_REQUIRED:
        hint = "start hearth itself from an elevated prompt"
        return NotExecutable(f"{what.program} runs for administrators only", hint=hint, program=what.program)
    if error.winerror == _ERROR_DIRECTORY:
        return nt.windows_error(error.winerror, what.directory)
    if isinstance(error, PermissionError):
        return NotExecutable(f"{what.program}: {error.strerror}", program=what.program)
    return nt.windows_error(error.winerror or 0, what.program)
