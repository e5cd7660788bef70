"""Linux."""

from __future__ import annotations

import contextlib
import errno
import os

from hearth.platforms.posix import PosixHost

_UNSUPPORTED = (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENODATA)


class LinuxHost(PosixHost):
    name = "linux"

    def _copy_attributes(self, source: int, target: int) -> None:
        # POSIX ACLs are the extended attribute system.posix_acl_access, so they come along.
        try:
            names = os.listxattr(source)
        except OSError:
            return
        for name in names:
            try:
                os.setxattr(target, name, os.getxattr(source, name))
            except OSError as error:
                if error.errno not in _UNSUPPORTED:
                    raise

    def process_start(self, pid: int) -> str | None:
        # proc(5): the 22nd field of stat is the start in clock ticks since boot; names may hold spaces and ')'.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
        return None
