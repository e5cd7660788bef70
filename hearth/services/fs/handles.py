"""Open directories of a tree, kept for the next file of the same one."""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from hearth.platforms.base import Directory
from hearth.services.fs.treewalk import Tree

MOST = 64


class Handles:
    """Directories below a tree's start, each opened from the one above it; the longest unused is closed first."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._open: OrderedDict[tuple[str, ...], Directory] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def directory(self, parts: tuple[str, ...]) -> Directory | None:
        """The directory at `parts` below the start; None when there is none that may be entered."""
        if not parts:
            return self._tree.start
        if parts in self._open:
            self._open.move_to_end(parts)
            return self._open[parts]
        above = self.directory(parts[:-1])
        opened = None if above is None else self._tree.walk.enter(above, parts[-1])
        if opened is not None:
            self._open[parts] = opened
            if len(self._open) > MOST:
                self._open.popitem(last=False)[1].close()
        return opened
