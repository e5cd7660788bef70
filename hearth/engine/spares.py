"""Folders of runs that are over, for runs to come.

Where thousands of files are made and removed a minute, each takes a file system long: ext4 gives out no inode that was
freed within the last minute, and looks at all of these, one after the other, whenever it makes a file.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import TYPE_CHECKING

from hearth.engine.outputs import FOLDER, remove_folder
from hearth.platforms.detached import HELD, STATUS
from hearth.platforms.processes import Stream

if TYPE_CHECKING:
    from hearth.platforms.base import Host

MOST = 64
PREFIX = "spare-"  # then the process that keeps it, and a number
# Of what every run has; a folder with anything else is not kept. So many bytes of each are as the next run needs them.
_NAMES = {**dict.fromkeys(map(str, Stream), 0), STATUS: len(HELD)}


class Spares:
    """The folders that one worker keeps."""

    def __init__(self, host: Host, data_dir: str) -> None:
        self._host = host
        self._above = host.unbounded(os.path.join(data_dir, FOLDER))
        self._numbers = itertools.count()
        self._free: list[str] = []

    def keep(self, folder: str) -> None:
        """Take a folder whose files nobody needs any more out of the way. It is removed instead where something that
        the program left behind could still write to them."""
        kept = os.path.join(self._above, f"{PREFIX}{os.getpid()}-{next(self._numbers)}")
        # Renamed first: who looks for what was printed finds all of it, or no folder, and never an emptied one.
        with contextlib.suppress(OSError):
            os.rename(folder, kept)
            if len(self._free) < MOST and self._is_emptied(kept):
                self._free.append(kept)
                return
        remove_folder(self._host, kept)
        remove_folder(self._host, folder)

    def _is_emptied(self, folder: str) -> bool:
        names = os.listdir(folder)
        return _NAMES.keys() >= set(names) and all(
            self._host.empty_unshared(os.path.join(folder, name), _NAMES[name]) for name in names
        )

    def give(self, folder: str) -> bool:
        """Make a folder out of one that was kept; false where there is none."""
        if not self._free:
            return False
        kept = self._free.pop()
        try:
            os.rename(kept, folder)
        except OSError:
            remove_folder(self._host, kept)
            return False
        return True

    def remove_left(self) -> None:
        """Remove what processes kept that were killed."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self._above):
                owner = name.removeprefix(PREFIX).partition("-")[0]
                if name.startswith(PREFIX) and owner.isdigit() and self._host.process_start(int(owner)) is None:
                    remove_folder(self._host, os.path.join(self._above, name))

    def close(self) -> None:
        while self._free:
            remove_folder(self._host, self._free.pop())
