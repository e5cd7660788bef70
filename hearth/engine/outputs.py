"""What jobs print: files that grow while they run, artifacts once they have ended.

Each run of a job has a folder, `<data_dir>/jobs/<id>.<attempt>.<mark>/`, in which the program itself writes `stdout`
and `stderr`, so that no output depends on a process of hearth. A run that never came to start gives its number to the
next one, which another worker may begin meanwhile, but never its mark. Of more than a bound the beginning and the end
are kept: the middle is taken out of the file as a hole, so that offsets and the size still tell how much there was.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from hearth.engine.order import Order
from hearth.platforms.processes import Stream

if TYPE_CHECKING:
    from hearth.platforms.base import Host
    from hearth.runtime import Runtime
    from hearth.store.blobs import Blobs, Body
    from hearth.store.jobs import Job

FOLDER = "jobs"
MARK_LENGTH = 8  # of its end, which is random
CHUNK_BYTES = 1024 * 1024
SLACK_BYTES = 1024 * 1024  # holes are made in steps of no less
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class Gap(NamedTuple):
    """The part of an output that is not kept, as offsets."""

    start: int
    end: int


class Stored(NamedTuple):
    """What became of an output of `printed` bytes: where the body is smaller, its halves stood at either end."""

    printed: int
    body: Body


class Outputs:
    """The outputs of one run of a job."""

    def __init__(self, host: Host, data_dir: str, name: str, most_bytes: int) -> None:
        """Of more than `most_bytes`, half is kept of the beginning and half of the end."""
        self._host = host
        self.most_bytes = most_bytes
        self.folder = host.unbounded(os.path.join(data_dir, FOLDER, name))
        self.order = Order(os.path.join(self.folder, "order"))

    @classmethod
    def of(cls, runtime: Runtime, job: Job, attempt: int | None = None) -> Self:
        """Those of a job's run, by default the newest one."""
        most = runtime.settings.worker.output_max_bytes
        if attempt is None or attempt == job.attempt:
            return cls(
                runtime.host, runtime.data_dir, f"{job.id}.{job.attempt}.{(job.mark or '')[-MARK_LENGTH:]}", most
            )
        folder = runtime.host.unbounded(os.path.join(runtime.data_dir, FOLDER))
        return cls(runtime.host, runtime.data_dir, _name_of_earlier(folder, f"{job.id}.{attempt}."), most)

    def make_folder(self) -> None:
        """Raises `OSError`."""
        try:
            os.mkdir(self.folder, 0o700)
        except FileNotFoundError:
            self._host.make_private_directory(os.path.dirname(self.folder))
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            self.remove()
            os.mkdir(self.folder, 0o700)

    def path(self, stream: Stream) -> str:
        return os.path.join(self.folder, stream.value)

    def size(self, stream: Stream) -> int:
        """All that was printed so far, in bytes."""
        try:
            return os.stat(self.path(stream)).st_size
        except FileNotFoundError:
            return 0

    def gap(self, stream: Stream) -> Gap | None:
        """What is missing in the middle."""
        try:
            with open(self._descriptor(stream.value + ".gap"), encoding="ascii") as file:
                start, end = map(int, file.read().split())
        except (FileNotFoundError, ValueError):
            return None
        return Gap(start, end)

    def bound(self, stream: Stream) -> bool:
        """Take the middle out of an output above the bound; false where the file system cannot do that."""
        before = self.gap(stream)
        # A worker with another bound took over: what is gone already stays gone.
        half = before.start if before else self.most_bytes // 2
        start, end = before.end if before else half, self.size(stream) - half
        if end - start < SLACK_BYTES:
            return True
        # Noted first: who reads a hole without knowing of it would take it for zeros that were printed.
        self._note_gap(stream, Gap(half, end))
        return self._host.punch_hole(self.path(stream), start, end)

    def _note_gap(self, stream: Stream, gap: Gap) -> None:
        name = stream.value + ".gap"
        with open(os.path.join(self.folder, name + ".new"), "w", encoding="ascii") as file:
            file.write(f"{gap.start} {gap.end}\n")
        with contextlib.closing(self._host.open_root(self.folder)) as folder:
            folder.rename(name + ".new", folder, name, replace=True)

    def descriptor(self, stream: Stream) -> int:
        """A descriptor to read an output with, which keeps nobody from removing the file. Raises `OSError`."""
        return self._descriptor(stream.value)

    def _descriptor(self, name: str) -> int:
        # As directories open files: on Windows such a one can be removed and replaced while it is read.
        with contextlib.closing(self._host.open_root(self.folder)) as folder:
            return folder.open_file(name)

    def gap_in(self, stream: Stream, size: int) -> Gap | None:
        """What is to be left out of an output of `size` bytes, of which as much of the end stays as of the
        beginning: more than is gone by now, if it grew since."""
        gap = self.gap(stream)
        if gap is None and size <= self.most_bytes:
            return None
        half = gap.start if gap else self.most_bytes // 2
        return Gap(half, max(gap.end if gap else half, size - half))

    def store(self, blobs: Blobs, stream: Stream) -> Stored | None:
        """Make a body of what is kept; None of nothing. Raises what a `BodyWriter` raises."""
        try:
            file = open(os.open(self.path(stream), _READ), "rb", buffering=0)  # noqa: SIM115
        except FileNotFoundError:
            return None
        with file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return None
            gap = self.gap_in(stream, size)
            return Stored(size, blobs.store(_kept(file.fileno(), size, gap), sync=False))

    def remove(self) -> None:
        """Remove the folder and all in it; what cannot go, as what somebody has open on Windows, goes later."""
        remove_folder(self._host, self.folder)


def remove_folder(host: Host, folder: str) -> None:
    """The same for a folder by its path."""
    with contextlib.suppress(OSError):
        with contextlib.closing(host.open_root(folder)) as inside:
            # Notes of gaps go last, so that nobody finds an output without knowing what is missing in it.
            for name in sorted((name for name, _ in inside.scan()), key=lambda name: name.endswith(".gap")):
                inside.remove_file(name)
        os.rmdir(folder)


def _kept(descriptor: int, size: int, gap: Gap | None) -> Iterator[bytes]:
    yield from _read(descriptor, 0, gap.start if gap else size)
    if gap:
        yield from _read(descriptor, gap.end, size)


def _name_of_earlier(folder: str, prefix: str) -> str:
    """The folder that a run before the newest one has left; a name that nothing has where it left none."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return next((entry.name for entry in found if entry.name.startswith(prefix)), prefix)
    return prefix


def _read(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    os.lseek(descriptor, start, os.SEEK_SET)
    left = end - start
    while left > 0 and (data := os.read(descriptor, min(left, CHUNK_BYTES))):
        left -= len(data)
        yield data
