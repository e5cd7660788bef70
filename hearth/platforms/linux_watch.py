"""Linux tells of changes in a folder by inotify(7), which Python does not offer."""

from __future__ import annotations

import contextlib
import ctypes
import os

from hearth.platforms.folder_watch import FolderWatch, Untold

_MODIFY, _MOVED_TO, _CREATE = 0x2, 0x80, 0x100
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_QUEUE_BYTES = 65_536


class LinuxFolderWatch:
    """Ready once a file of the folder was written to, made or moved there."""

    def __init__(self, descriptor: int) -> None:
        self.waitable: int | None = descriptor

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if self.waitable is not None:
                os.read(self.waitable, _QUEUE_BYTES)

    def close(self) -> None:
        if self.waitable is not None:
            os.close(self.waitable)
            self.waitable = None


def watch_folder(path: str) -> FolderWatch:
    """As `Host.watch_folder`; one that tells nothing where the user's number of watches is used up."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(_FLAGS)
    if descriptor < 0:
        return Untold()
    if libc.inotify_add_watch(descriptor, os.fsencode(path), ctypes.c_uint32(_MODIFY | _MOVED_TO | _CREATE)) < 0:
        os.close(descriptor)
        return Untold()
    return LinuxFolderWatch(descriptor)
