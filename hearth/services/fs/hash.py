"""SHA-256 of many files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from hearth.content.digest import sha256_of
from hearth.errors import HearthError, IsDirectory, from_os
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs.globs import Globs
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.treewalk import open_tree, shown_path
from hearth.services.fs.walk import Budget

if TYPE_CHECKING:
    from concurrent.futures import Future

JOBS = 4  # more threads than that only fight over the disk


@model
class HashFiles:
    paths: Annotated[
        tuple[Annotated[str, Len(1, MAX_PATH)], ...],
        Len(1, 10_000),
        PathName(),
        Cli(argument=True, metavar="PATH", completes="path"),
        Help("Files; with recursive also directories."),
    ]
    recursive: Annotated[bool, Cli(names=("-r",)), Help("Hash every file below a directory.")] = False
    globs: Annotated[
        tuple[Annotated[str, Len(1, 4096)], ...],
        Len(0, 64),
        Cli(names=("-g", "--glob")),
        Help("Which files of a directory: `*` stays in a level, `**` crosses, `!` takes out."),
    ] = ()
    hidden: Annotated[bool, Help("Hash names that start with a dot, too.")] = True
    ignored: Annotated[bool, Help("Hash what .gitignore files leave out, too.")] = True
    limit: Annotated[int, Ge(1), Le(100_000), Cli(names=("-n",)), Help("Most files in one answer.")] = 10_000
    timeout_ms: Annotated[int, Ge(1), Le(3_600_000), Help("Stop after this time with what is done.")] = 600_000


@model
class FileHash:
    """One file."""

    sha256: Annotated[str, Help("Lower-case hex.")]
    path: Annotated[str, PathName(), Help("The path, as the next call can use it.")]
    size: Annotated[int, Help("The bytes that were hashed.")]


@model
class HashFailure:
    """A file that could not be hashed."""

    path: Annotated[str, PathName(), Help("The path.")]
    code: Annotated[str, Help("The error's code.")]
    message: Annotated[str, Help("What is wrong.")]


@model
class FileHashes:
    """Hashes in the order of the paths, a directory's by name."""

    state: State = State.COMPLETED
    hashes: Annotated[tuple[FileHash, ...], Items(("sha256", "path")), Help("The files that were hashed.")]
    stopped: Annotated[str | None, Help("The bound that ended it: limit or time.")] = None
    skipped: Annotated[dict[str, int], Hidden(), Help("What was left out of directories, by reason.")]
    errors: Annotated[tuple[HashFailure, ...], Help("The files that could not be hashed.")] = ()


def hash_files(runtime: Runtime, given: HashFiles) -> FileHashes:
    """Each file's errors (`NotFound`, `OutsideRoot`, ...) stand in the answer. Raises `InvalidPattern`, `Cancelled`."""
    call = _Call(runtime, given)
    with _pool() as pool:
        waiting: deque[tuple[str, Future[tuple[str, int]]]] = deque()
        try:
            for path, descriptor in call.files():
                waiting.append((path, pool.submit(_hash, descriptor, call.budget, runtime)))
                if len(waiting) > JOBS * 2:
                    call.take(*waiting.popleft())
            while waiting:
                call.take(*waiting.popleft())
        finally:
            # What still stands here is let go of: a hash that has begun ends by the budget or by cancellation.
            for _, future in waiting:
                future.exception()
    return call.answer()


def _pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(min(JOBS, os.cpu_count() or 1), thread_name_prefix="hash")


class _OutOfTime(Exception):
    pass


def _hash(descriptor: int, budget: Budget, runtime: Runtime) -> tuple[str, int]:
    try:
        if not budget.allows():
            raise _OutOfTime
        return sha256_of(descriptor, runtime.cancelled)
    finally:
        os.close(descriptor)


class _Call:
    """The files of one call, and what came of them."""

    def __init__(self, runtime: Runtime, given: HashFiles) -> None:
        self.runtime = runtime
        self.given = given
        self.globs = Globs(given.globs, case_sensitive=runtime.host.case_sensitive)
        self.budget = Budget(runtime.clock, runtime.cancelled, timeout_ms=given.timeout_ms, progress=runtime.progress)
        self.hashes: list[FileHash] = []
        self.errors: list[HashFailure] = []
        self.skipped: dict[str, int] = {}
        self.opened = 0

    def files(self) -> Iterator[tuple[str, int]]:
        """Open files, for whoever takes them to close."""
        for path in self.given.paths:
            if not self.budget.allows():
                return
            try:
                yield from self._files_at(path)
            except HearthError as error:
                if error.code == "cancelled":
                    raise
                self._fail(path, error)

    def _files_at(self, path: str) -> Iterator[tuple[str, int]]:
        with self.runtime.containment.locate(path) as place:
            if place.found.kind is not Kind.DIRECTORY:
                shown = shown_path(self.runtime, place.path)
                yield from self._room(shown, place.open_file())
                return
        if not self.given.recursive:
            raise IsDirectory(f"{place.path} is a directory", hint="pass --recursive (recursive: true)")
        yield from self._below(path)

    def _below(self, path: str) -> Iterator[tuple[str, int]]:
        given = self.given
        with open_tree(self.runtime, path, self.budget, hidden=given.hidden, ignored=given.ignored) as tree:
            tree.walk.prune = self.globs.prune if self.globs else None
            for found in tree.walk.run(tree.start):
                if found.kind not in (Kind.FILE, Kind.DIRECTORY):
                    tree.walk.skipped["link" if found.kind is Kind.LINK else "special"] += 1
                if found.kind is not Kind.FILE or not self.globs.select(found.path):
                    continue
                shown = tree.show(found.parts)
                try:
                    descriptor = found.directory.open_file(found.name)
                except OSError as error:
                    self._fail(shown, from_os(error, shown))
                    continue
                yield from self._room(shown, descriptor)
            for reason, count in tree.walk.skipped.items():
                self.skipped[reason] = self.skipped.get(reason, 0) + count

    def _room(self, path: str, descriptor: int) -> Iterator[tuple[str, int]]:
        if self.opened >= self.given.limit:
            os.close(descriptor)
            self.budget.stopped = "limit"
            return
        self.opened += 1
        yield path, descriptor

    def _fail(self, path: str, error: HearthError) -> None:
        self.errors.append(HashFailure(path=path, code=error.code, message=error.message))

    def take(self, path: str, future: Future[tuple[str, int]]) -> None:
        """Wait for one hash."""
        try:
            digest, size = future.result()
        except _OutOfTime:
            return
        except OSError as error:
            self._fail(path, from_os(error, path))
        else:
            self.hashes.append(FileHash(sha256=digest, path=path, size=size))

    def answer(self) -> FileHashes:
        return FileHashes(
            state=State.PARTIAL if self.budget.stopped or self.errors else State.COMPLETED,
            hashes=tuple(self.hashes),
            stopped=self.budget.stopped,
            skipped={reason: count for reason, count in self.skipped.items() if count},
            errors=tuple(self.errors),
        )
