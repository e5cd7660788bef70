"""The open input of a program of Windows: a pipe whose writing end the process that started it holds.

Others of the user write by a duplicate of that handle, which a file of the program's folder names. Who takes the
program over while the holder lives has the handle from then on; when the holder ends before, the program reads the end
of its input, and whoever wants to send is told so."""

from __future__ import annotations

import _winapi
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from hearth.errors import InputClosed
from hearth.platforms import windows_nt as nt

assert sys.platform == "win32"

INPUT = "input"
_SIZE = 65_536
_CHUNK = 4_096  # what is taken whole or not at all, unless the reader is in the middle of it
_PIPE_ACCESS_OUTBOUND = 0x2
_FIRST_PIPE_INSTANCE = 0x80000
_REJECT_REMOTE_CLIENTS = 0x8
_PROCESS_DUP_HANDLE = 0x40
_PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
_NAME_INFORMATION = 9


class Held(NamedTuple):
    """A pipe's writing end in a process: what the file says."""

    pid: int
    start: str
    handle: int
    name: str


def make() -> tuple[str, int, int]:
    """A new pipe: its name, the writing end, and the reading end, which a program can have as its input."""
    name = f"hearth-{os.getpid()}-{os.urandom(16).hex()}"
    writer = _winapi.CreateNamedPipe(
        rf"\\.\pipe\{name}",
        _PIPE_ACCESS_OUTBOUND | _winapi.FILE_FLAG_OVERLAPPED | _FIRST_PIPE_INSTANCE,
        _winapi.PIPE_WAIT | _REJECT_REMOTE_CLIENTS,
        1,
        _SIZE,
        0,
        0,
        _winapi.NULL,
    )
    try:
        reader = _winapi.CreateFile(
            rf"\\.\pipe\{name}", _winapi.GENERIC_READ, 0, _winapi.NULL, _winapi.OPEN_EXISTING, 0, 0
        )
    except BaseException:
        nt.close(writer)
        raise
    with contextlib.suppress(OSError):  # it is connected already, which some systems call an error
        _winapi.ConnectNamedPipe(writer, overlapped=True).GetOverlappedResult(True)
    return name, writer, reader


def tell(folder: str, held: Held) -> None:
    """Write down where the writing end is."""
    with open(os.path.join(folder, INPUT), "w", encoding="ascii") as file:
        file.write(" ".join(map(str, held)))


def send(folder: str, data: bytes, seconds: float) -> int:
    """As `Detacher.send`."""
    deadline = time.monotonic() + seconds
    held = _told(folder)
    if held is None:
        raise InputClosed("the program's input is not open")
    with _borrowed(held) as pipe:
        if pipe is None:
            raise InputClosed("the program's input was closed, as it is when the worker ends that started it")
        return _written(pipe, data, deadline)


def _written(pipe: int, data: bytes, deadline: float) -> int:
    done = 0
    while done < len(data):
        try:
            took = _take(pipe, data[done : done + _CHUNK], deadline)
        except BrokenPipeError:
            if done == 0:
                raise InputClosed("nobody reads the program's input: it has ended, or closed its input") from None
            break
        done += took
        if took < min(_CHUNK, len(data) - (done - took)):
            break
    return done


def _take(pipe: int, data: bytes, deadline: float) -> int:
    write, _ = _winapi.WriteFile(pipe, data, overlapped=True)
    left = max(0, round((deadline - time.monotonic()) * 1000))
    if _winapi.WaitForSingleObject(write.event, left) != _winapi.WAIT_OBJECT_0:
        write.cancel()
    try:
        return write.GetOverlappedResult(True)[0]
    except OSError as error:
        if error.winerror == _winapi.ERROR_OPERATION_ABORTED:
            return 0
        raise


def close(folder: str) -> None:
    """As `Detacher.close_stdin`."""
    held = _told(folder)
    if held is not None:
        with _borrowed(held, end=True):
            pass
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, INPUT))


def close_own(held: Held) -> None:
    """Close the writing end, unless another process has done that and the handle means something else."""
    if _is_pipe(held.handle, held.name):
        nt.close(held.handle)


def take_over(folder: str) -> Held | None:
    """Have the writing end in this process in place of the one that has it; None where that has ended, or there is no
    open input."""
    held = _told(folder)
    if held is None or held.pid == os.getpid():
        return None
    with _borrowed(held) as pipe:
        if pipe is None:
            return None
        own = Held(os.getpid(), nt.process_start(nt.kernel32.GetCurrentProcess()), nt.duplicate(pipe), held.name)
    try:
        tell(folder, own)
    except OSError:
        nt.close(own.handle)
        return None
    with _borrowed(held, end=True):
        return own


def _told(folder: str) -> Held | None:
    with (
        contextlib.suppress(FileNotFoundError, ValueError),
        open(os.path.join(folder, INPUT), encoding="ascii") as file,
    ):
        pid, start, handle, name = file.read().split()
        return Held(int(pid), start, int(handle), name)
    return None


@contextlib.contextmanager
def _borrowed(held: Held, *, end: bool = False) -> Iterator[int | None]:
    """A duplicate of the writing end, if its holder lives and has it; with `end` the holder has it no more."""
    access = _PROCESS_DUP_HANDLE | _PROCESS_QUERY_LIMITED_INFORMATION
    process = nt.kernel32.OpenProcess(access, False, held.pid)
    if not process:
        yield None
        return
    with contextlib.ExitStack() as opened:
        opened.callback(nt.close, process)
        pipe = None
        with contextlib.suppress(OSError):
            if nt.process_start(process) == held.start:
                copy = opened.enter_context(nt.closing(nt.duplicate(held.handle, source=process)))
                pipe = copy if _is_pipe(copy, held.name) else None
        if pipe is not None and end:
            options = nt.DUPLICATE_CLOSE_SOURCE
            opened.callback(nt.close, nt.duplicate(held.handle, source=process, options=options))
        yield pipe


def _is_pipe(handle: int, name: str) -> bool:
    status, found = nt.query(handle, _NAME_INFORMATION, 1024)
    return status == nt.STATUS_SUCCESS and name in found[4:].decode("utf-16-le", "replace")
