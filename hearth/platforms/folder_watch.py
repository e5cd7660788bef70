"""Telling that files of a folder grew, so that nobody has to look again and again."""

from __future__ import annotations

from typing import Protocol


class FolderWatch(Protocol):
    """What is told about a folder from when it was made on. Looking comes after `clear`, as with a bell."""

    waitable: int | None  # for `Host.wait_any`; None: nothing tells here, so look now and then

    def clear(self) -> None:
        """Forget what was told so far."""

    def close(self) -> None:
        """Stop; a second time does nothing."""


class Untold:
    """Where the system does not tell, or not in time: Windows notes the size of a file when that is closed."""

    waitable: int | None = None

    def clear(self) -> None: ...

    def close(self) -> None: ...
