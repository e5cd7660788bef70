"""macOS."""

from __future__ import annotations

import ctypes
import os
import subprocess
import unicodedata

from hearth.platforms.posix import PosixHost

_COPY_ACL_AND_XATTR = 1 << 0 | 1 << 2  # COPYFILE_ACL | COPYFILE_XATTR of copyfile(3)


class MacosHost(PosixHost):
    name = "macos"
    case_sensitive = False

    def same_name(self, one: str, other: str) -> bool:
        # APFS keeps names as given and compares them without regard to case or normal form.
        return _folded(one) == _folded(other)

    def _copy_attributes(self, source: int, target: int) -> None:
        ctypes.CDLL(None).fcopyfile(source, target, None, ctypes.c_uint32(_COPY_ACL_AND_XATTR))

    def sync_file(self, descriptor: int) -> None:
        import fcntl

        # fsync(2) of macOS leaves the data in the drive's cache; F_FULLFSYNC does not.
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            os.fsync(descriptor)

    def process_start(self, pid: int) -> str | None:
        done = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
        return done.stdout.decode("utf-8", "replace").strip() or None

    def user_data_directory(self) -> str:
        return os.path.expanduser("~/Library/Application Support")

    def user_config_directory(self) -> str:
        return os.path.expanduser("~/Library/Application Support")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()
