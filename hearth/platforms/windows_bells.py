"""Bells on Windows: a named event each. A file in the folder has its name, and vanishes with its process."""

from __future__ import annotations

import _winapi
import contextlib
import ctypes
import ntpath
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from ctypes import wintypes

from hearth.platforms import bells
from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_paths as paths

assert sys.platform == "win32"

# Seen by this user's processes in every session, as a service's; where a sandbox refuses that, by those of this one.
_SPACES = ("Global\\hearth-", "Local\\hearth-")
_EVENT_MODIFY_STATE = 0x2
_CREATE_NEW = 1
_FLAG_DELETE_ON_CLOSE = 0x04000000
_ATTRIBUTE_TEMPORARY = 0x100
_SHARE_READ_DELETE = 0x5
_ERROR_FILE_NOT_FOUND = 2
# One is left to Python, which adds an event of its own for Ctrl-C.
_MOST_AT_ONCE = 63
# Ctrl-Break sets no event: its handler runs when the wait is over.
_SLICE_SECONDS = 1.0

_DECLARED: tuple[tuple[str, object, tuple[object, ...]], ...] = (
    ("CreateEventW", wintypes.HANDLE, (ctypes.c_void_p, wintypes.BOOL, wintypes.BOOL, wintypes.LPCWSTR)),
    ("OpenEventW", wintypes.HANDLE, (wintypes.DWORD, wintypes.BOOL, wintypes.LPCWSTR)),
    ("SetEvent", wintypes.BOOL, (wintypes.HANDLE,)),
    ("ResetEvent", wintypes.BOOL, (wintypes.HANDLE,)),
)
for _name, _result, _arguments in _DECLARED:
    _call = getattr(nt.kernel32, _name)
    _call.restype, _call.argtypes = _result, _arguments


class WindowsBell:
    """A bell by the handle of its event, and that of its file."""

    def __init__(self, waitable: int, file: int | None, name: str | None) -> None:
        self.waitable = waitable
        self.name = name
        self._file = file

    def clear(self) -> None:
        if self.waitable >= 0:
            nt.kernel32.ResetEvent(self.waitable)

    def close(self) -> None:
        if self.waitable < 0:
            return
        for handle in (self._file, self.waitable):
            if handle is not None:
                nt.close(handle)
        self.waitable = -1


def make_bell(folder: str) -> WindowsBell:
    """A bell in an existing folder; one that nobody can ring where the folder takes no file or no name is granted."""
    name = bells.new_name()
    with contextlib.suppress(OSError):
        event = _named_event(name)
        try:
            return WindowsBell(event, _file(ntpath.join(paths.extended(folder), name)), name)
        except OSError:
            nt.close(event)
    event = nt.kernel32.CreateEventW(None, True, False, None)
    if not event:
        raise nt.last_error(folder)
    return WindowsBell(event, None, None)


def _named_event(name: str) -> int:
    from hearth.platforms.windows_security import SecurityAttributes, shared_descriptor

    attributes = SecurityAttributes(ctypes.sizeof(SecurityAttributes), shared_descriptor(), False)
    for space in _SPACES:
        if event := nt.kernel32.CreateEventW(ctypes.byref(attributes), True, False, space + name):
            return int(event)
    raise nt.last_error(name)


def _file(path: str) -> int:
    handle = nt.kernel32.CreateFileW(
        path,
        nt.FILE_READ_ATTRIBUTES | nt.DELETE,
        _SHARE_READ_DELETE,
        None,
        _CREATE_NEW,
        _FLAG_DELETE_ON_CLOSE | _ATTRIBUTE_TEMPORARY,
        None,
    )
    if handle == wintypes.HANDLE(-1).value:
        raise nt.last_error(path)
    return int(handle)


def ring(folder: str, but: str | None = None) -> int:
    """Ring every bell of the folder but that one, and remove those whose process is gone; how many heard it."""
    extended = paths.extended(folder)
    try:
        names = os.listdir(extended)
    except OSError:
        return 0
    return sum(_ring(name, ntpath.join(extended, name)) for name in names if name != but and bells.is_name(name))


def _ring(name: str, path: str) -> bool:
    missing = 0
    for space in _SPACES:
        if event := nt.kernel32.OpenEventW(_EVENT_MODIFY_STATE, False, space + name):
            with nt.closing(event):
                return bool(nt.kernel32.SetEvent(event))
        missing += ctypes.get_last_error() == _ERROR_FILE_NOT_FOUND
    if missing == len(_SPACES):  # as after a loss of power; a directory stays, whatever its name
        with contextlib.suppress(OSError):
            os.unlink(path)
    return False


def wait_any(waitables: Sequence[int], seconds: float | None) -> list[int]:
    """Those of the handles that are signalled, once there is one; [] after the time. They stay as they are, so none may
    be of the kind that a wait resets."""
    bells.refuse_closed(waitables)
    if len(waitables) <= _MOST_AT_ONCE:
        _wait(waitables, seconds)
    else:
        with _gathered(waitables) as any_of_them:
            _wait([any_of_them], seconds)
    return [each for each in waitables if _winapi.WaitForSingleObject(each, 0) == _winapi.WAIT_OBJECT_0]


def _wait(handles: Sequence[int], seconds: float | None) -> None:
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        left = _SLICE_SECONDS if deadline is None else deadline - time.monotonic()
        if _is_ready(handles, max(0.0, min(left, _SLICE_SECONDS))) or left <= 0:
            return


def _is_ready(handles: Sequence[int], seconds: float) -> bool:
    milliseconds = round(seconds * 1000 + 0.499)  # up, or the last millisecond would be spent asking
    if not handles:  # which the system refuses
        time.sleep(milliseconds / 1000)
        return False
    try:
        return _winapi.WaitForMultipleObjects(handles, False, milliseconds) != _winapi.WAIT_TIMEOUT
    except InterruptedError:  # Ctrl-C, whose handler runs now and usually raises
        return False


@contextlib.contextmanager
def _gathered(handles: Sequence[int]) -> Iterator[int]:
    """An event that is set as soon as one of the handles is signalled; the system waits for so many in threads only."""
    done = nt.kernel32.CreateEventW(None, True, False, None)
    if not done:
        raise nt.last_error("")

    def watch(some: Sequence[int]) -> None:
        with contextlib.suppress(OSError):  # a handle that is closed, which the look at each of them tells
            _winapi.WaitForMultipleObjects([done, *some], False, _winapi.INFINITE)
        nt.kernel32.SetEvent(done)

    step = _MOST_AT_ONCE - 1
    groups = [handles[at : at + step] for at in range(0, len(handles), step)]
    threads = [threading.Thread(target=watch, args=(group,), daemon=True) for group in groups]
    try:
        for thread in threads:
            thread.start()
        yield done
    finally:
        nt.kernel32.SetEvent(done)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        nt.close(done)
