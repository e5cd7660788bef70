"""A walk over a tree by open directories: nothing is looked up twice by path, links are never followed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hearth.clock import Clock
from hearth.containment import Containment, Root
from hearth.errors import Cancelled, HearthError
from hearth.platforms.base import Directory, Kind
from hearth.services.fs import ignore
from hearth.services.fs.ignore import Ignore

MAX_DEPTH = 256  # each level holds a directory open


class Found(NamedTuple):
    """Something in the tree. `directory` is open until the walk goes on."""

    parts: tuple[str, ...]  # below the directory where the walk began
    kind: Kind
    directory: Directory  # where it stands

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def path(self) -> str:
        return "/".join(self.parts)


class Budget:
    """How much one call may look at. `stopped` names the bound that ended it: time or entries."""

    def __init__(
        self,
        clock: Clock,
        cancelled: threading.Event,
        *,
        timeout_ms: int | None = None,
        entries: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._clock = clock
        self._cancelled = cancelled
        self._deadline = None if timeout_ms is None else clock.monotonic() + timeout_ms / 1000
        self._left = entries
        self._progress = progress
        self.visited = 0
        self.stopped: str | None = None

    def remaining_s(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - self._clock.monotonic())

    def allows(self) -> bool:
        """Whether there is time to go on. Raises `Cancelled`."""
        if self._cancelled.is_set():
            raise Cancelled("the call was cancelled")
        if self.stopped is None and self.remaining_s() == 0.0:
            self.stopped = "time"
        return self.stopped is None

    def spend(self) -> bool:
        """Count an entry; whether it may still be looked at. Raises `Cancelled`."""
        if self._left is not None and self.visited >= self._left:
            self.stopped = self.stopped or "entries"
        # The clock is asked now and then: it costs more than a name.
        if self.stopped is None and self.visited % 64 == 0:
            self.allows()
            if self._progress is not None:
                self._progress(f"{self.visited:,} names")
        self.visited += self.stopped is None
        return self.stopped is None


class Walk:
    """Depth-first, each directory's names sorted, so that a walk can go on behind any path.

    What is left out is counted in `skipped` by reason: permission, ignored, hidden, link, special, private (hearth's
    own data), changed (replaced meanwhile), too_deep.
    """

    def __init__(self, containment: Containment, root: Root, budget: Budget, *, depth: int = MAX_DEPTH) -> None:
        self._containment = containment
        self._root = root
        self._depth = min(depth, MAX_DEPTH)
        self.budget = budget
        self.hidden = True
        self.ignored = True
        self.ignore: Ignore | None = None
        self.above: tuple[str, ...] = ()  # components between the root of `ignore` and the start
        self.prune: Callable[[str], bool] | None = None
        self.skipped: Counter[str] = Counter()

    def run(self, start: Directory, after: tuple[str, ...] = ()) -> Iterator[Found]:
        """Everything below `start`, without closing it; with `after` only what comes behind that path."""
        yield from self._level(start, (), self.ignore, after)

    def _level(
        self, directory: Directory, parts: tuple[str, ...], above: Ignore | None, after: tuple[str, ...]
    ) -> Iterator[Found]:
        found = self._names(directory)
        here = above if self.ignored else self._ignore(directory, found, above, parts)
        for name, kind in found:
            if after and name < after[0]:
                continue
            passed = bool(after) and name == after[0]
            path = (*parts, name)
            if not passed and self._leaves_out(name, kind, path, here):
                continue
            yield from self._entry(directory, path, kind, here, after[1:] if passed else None)
            if self.budget.stopped:
                return

    def _entry(
        self,
        directory: Directory,
        path: tuple[str, ...],
        kind: Kind,
        here: Ignore | None,
        after: tuple[str, ...] | None,
    ) -> Iterator[Found]:
        """One entry and what is below it; `after` only where the entry itself was passed already."""
        below, private = self._open(directory, path[-1]) if kind is Kind.DIRECTORY else (None, False)
        try:
            if after is None and not private:
                if not self.budget.spend():
                    return
                yield Found(path, kind, directory)
            if below is None:
                return
            if len(path) < self._depth:
                yield from self._level(below, path, here, after or ())
            else:
                self.skipped["too_deep"] += self._depth == MAX_DEPTH
        finally:
            if below is not None:
                below.close()

    def _ignore(
        self, directory: Directory, found: list[tuple[str, Kind]], above: Ignore | None, parts: tuple[str, ...]
    ) -> Ignore | None:
        special = {name for name, _ in found if name in (".gitignore", ".ignore", ".git")}
        return ignore.of_directory(directory, special, above, len(self.above) + len(parts)) if special else above

    def _names(self, directory: Directory) -> list[tuple[str, Kind]]:
        try:
            return sorted(directory.scan())
        except FileNotFoundError:
            self.skipped["changed"] += 1
        except OSError:
            self.skipped["permission"] += 1
        return []

    def _leaves_out(self, name: str, kind: Kind, path: tuple[str, ...], here: Ignore | None) -> bool:
        if kind is Kind.DIRECTORY and self.prune is not None and self.prune("/".join(path)):
            return True
        reason = self._reason(name, kind, path, here)
        if reason:
            self.skipped[reason] += 1
        return bool(reason)

    def _reason(self, name: str, kind: Kind, path: tuple[str, ...], here: Ignore | None) -> str | None:
        if not self.hidden and name.startswith("."):
            return "hidden"
        if not self.ignored:
            if name == ".git":
                return "ignored"
            if here is not None and here.ignores(self.above + path, is_directory=kind is Kind.DIRECTORY):
                return "ignored"
        return None

    def enter(self, directory: Directory, name: str) -> Directory | None:
        """A directory that may be entered, open; None, and counted, when it may not."""
        return self._open(directory, name)[0]

    def _open(self, directory: Directory, name: str) -> tuple[Directory | None, bool]:
        """The directory, if it may be entered, and whether it is hearth's own."""
        try:
            opened = directory.open_directory(name)
        except PermissionError:
            self.skipped["permission"] += 1
            return None, False
        except OSError:
            self.skipped["changed"] += 1  # gone, or another thing than it was when it was listed
            return None, False
        try:
            self._containment.owner_of(opened, self._root)
        except HearthError:
            opened.close()
            self.skipped["private"] += 1
            return None, True
        return opened, False
