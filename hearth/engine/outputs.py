"""What jobs print: files that grow while they run, artifacts once they have ended.

Each run of a job has a folder, `<data_dir>/jobs/<id>.<attempt>/`, in which the program itself writes `stdout` and
`stderr`, so that no output depends on a process of hearth. Of more than a bound the beginning and the end are kept:
the middle is taken out of the file as a hole, so that offsets and the size still tell how much there was.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from hearth.platforms.processes import Stream

if TYPE_CHECKING:
    from hearth.platforms.base import Host
    from hearth.runtime import Runtime
    from hearth.store.blobs import Blobs, Body
    from hearth.store.jobs import Job

FOLDER = "jobs"
CHUNK_BYTES = 1024 * 1024
SLACK_BYTES = 1024 * 1024  # holes are made in steps of no less
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class Gap(NamedTuple):
    """The part of an output that is not kept, as offsets."""

    start: int
    end: int


class Outputs:
    """The outputs of one run of a job."""

    def __init__(self, host: Host, data_dir: str, job_id: str, attempt: int, most_bytes: int) -> None:
        """Of more than `most_bytes`, half is kept of the beginning and half of the end."""
        self._host = host
        self.most_bytes = most_bytes
        self.folder = host.unbounded(os.path.join(data_dir, FOLDER, f"{job_id}.{attempt}"))

    @classmethod
    def of(cls, runtime: Runtime, job: Job) -> Self:
        """Those of a job's newest run."""
        most = runtime.settings.worker.output_max_bytes
        return cls(runtime.host, runtime.data_dir, job.id, job.attempt, most)

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
            with open(self.path(stream) + ".gap", encoding="ascii") as file:
                start, end = map(int, file.read().split())
        except (FileNotFoundError, ValueError):
            return None
        return Gap(start, end)

    def bound(self, stream: Stream) -> bool:
        """Take the middle out of an output above the bound; false where the file system cannot do that."""
        start, end = self.most_bytes // 2, self.size(stream) - (self.most_bytes - self.most_bytes // 2)
        before = self.gap(stream)
        if end - (before.end if before else start) < SLACK_BYTES:
            return True
        # Noted first: who reads a hole without knowing of it would take it for zeros that were printed.
        self._note_gap(stream, Gap(start, end))
        return self._host.punch_hole(self.path(stream), before.end if before else start, end)

    def _note_gap(self, stream: Stream, gap: Gap) -> None:
        path = self.path(stream) + ".gap"
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{gap.start} {gap.end}\n")
        os.replace(path + ".new", path)

    def pieces(self, stream: Stream) -> Iterator[bytes]:
        """What is kept: all of it, or the beginning and then the end."""
        with contextlib.suppress(FileNotFoundError), open(os.open(self.path(stream), _READ), "rb") as file:
            size, half = os.fstat(file.fileno()).st_size, self.most_bytes // 2
            gap = self.gap(stream)
            if gap is None and size > self.most_bytes:
                gap = Gap(half, half)
            if gap is None:
                yield from _read(file.fileno(), 0, size)
                return
            end = max(gap.end, size - (self.most_bytes - half))
            yield from _read(file.fileno(), 0, gap.start)
            yield from _read(file.fileno(), end, size)

    def store(self, blobs: Blobs, stream: Stream) -> Body | None:
        """Make a body of what is kept; None of nothing. Raises what a `BodyWriter` raises."""
        return blobs.store(self.pieces(stream), sync=False) if self.size(stream) else None

    def remove(self) -> None:
        """Remove the folder and all in it; what cannot go stays for `hearth gc`."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self.folder):
                os.unlink(entry.path)
            os.rmdir(self.folder)


def _read(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    os.lseek(descriptor, start, os.SEEK_SET)
    left = end - start
    while left > 0 and (data := os.read(descriptor, min(left, CHUNK_BYTES))):
        left -= len(data)
        yield data
