"""Output files of jobs: what is kept of much, and how it is stored."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from hearth.engine.outputs import CHUNK_BYTES, SLACK_BYTES, Gap, Outputs
from hearth.errors import NoSpace
from hearth.platforms.base import Host
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime
from hearth.store.blobs import Blobs, Body
from tests.marks import WINDOWS, not_emulated

MOST = 8_192
HALF = MOST // 2
OUT = Stream.STDOUT


class Solid:
    """This machine, but with a file system that makes no holes."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def __getattr__(self, name: str) -> object:
        return getattr(self._host, name)

    def punch_hole(self, _path: str, _start: int, _end: int) -> bool:
        return False


@pytest.fixture
def outputs(runtime: Runtime) -> Outputs:
    made = Outputs(runtime.host, runtime.data_dir, "job_1.1", MOST)
    made.make_folder()
    return made


def pattern(start: int, end: int) -> bytes:
    """Bytes that tell where they stood: no two stretches of 8 are alike."""
    numbers = range(start // 8, end // 8 + 1)
    return b"".join(b"%08x" % (number % 2**32) for number in numbers)[start % 8 :][: end - start]


def prints(outputs: Outputs, size: int) -> None:
    """The program prints on until there are `size` bytes."""
    with open(outputs.path(OUT), "ab") as file:
        at = file.tell()
        while at < size:
            step = min(size, at + CHUNK_BYTES)
            file.write(pattern(at, step))
            at = step


def stored(outputs: Outputs, runtime: Runtime) -> tuple[int, bytes]:
    """How much was printed, and the body."""
    found = outputs.store(runtime.blobs, OUT)
    assert found is not None
    body = b"".join(runtime.blobs.chunks(found.body.sha256))
    assert len(body) == found.body.size
    return found.printed, body


def needs_holes(outputs: Outputs) -> None:
    if not outputs.bound(OUT):
        pytest.skip("this file system makes no holes")


@pytest.mark.parametrize("size", [1, MOST - 1, MOST])
def test_up_to_the_bound_every_byte_is_kept(outputs: Outputs, runtime: Runtime, size: int) -> None:
    prints(outputs, size)
    assert outputs.bound(OUT)
    assert outputs.gap(OUT) is None
    assert stored(outputs, runtime) == (size, pattern(0, size))


def test_binary_output_is_kept_as_it_is(outputs: Outputs, runtime: Runtime) -> None:
    data = bytes(range(256)) * 8
    Path(outputs.path(OUT)).write_bytes(data)
    assert stored(outputs, runtime) == (len(data), data)


def test_of_no_output_there_is_nothing_to_keep(outputs: Outputs, runtime: Runtime) -> None:
    assert outputs.store(runtime.blobs, OUT) is None
    Path(outputs.path(OUT)).write_bytes(b"")
    assert outputs.store(runtime.blobs, OUT) is None
    assert outputs.size(OUT) == 0


@pytest.mark.parametrize("size", [MOST + 1, MOST + 4_000, MOST + SLACK_BYTES - 1])
def test_a_little_above_the_bound_the_middle_is_left_out_when_it_is_stored(
    outputs: Outputs, runtime: Runtime, size: int
) -> None:
    prints(outputs, size)
    assert outputs.bound(OUT)
    assert stored(outputs, runtime) == (size, pattern(0, HALF) + pattern(size - HALF, size))


def test_an_odd_bound_keeps_as_much_of_either_end(runtime: Runtime) -> None:
    outputs = Outputs(runtime.host, runtime.data_dir, "job_1.1", MOST + 1)
    outputs.make_folder()
    prints(outputs, MOST + 1)
    assert stored(outputs, runtime) == (MOST + 1, pattern(0, MOST + 1))
    prints(outputs, MOST + 2)
    assert stored(outputs, runtime) == (MOST + 2, pattern(0, HALF) + pattern(HALF + 2, MOST + 2))


def test_far_above_the_bound_the_disk_gets_its_space_back(outputs: Outputs, runtime: Runtime) -> None:
    size = MOST + 3 * SLACK_BYTES
    prints(outputs, size)
    needs_holes(outputs)
    assert outputs.gap(OUT) == Gap(HALF, size - HALF)
    assert outputs.size(OUT) == size
    if not WINDOWS:
        assert os.stat(outputs.path(OUT)).st_blocks * 512 <= MOST + 4 * 4_096
    assert stored(outputs, runtime) == (size, pattern(0, HALF) + pattern(size - HALF, size))


def test_what_comes_after_a_hole_makes_it_grow(outputs: Outputs, runtime: Runtime) -> None:
    prints(outputs, MOST + SLACK_BYTES)
    needs_holes(outputs)
    first = outputs.gap(OUT)
    prints(outputs, MOST + SLACK_BYTES + 5_000)
    assert outputs.bound(OUT)
    assert outputs.gap(OUT) == first  # not for so little
    size = MOST + 2 * SLACK_BYTES
    prints(outputs, size)
    assert outputs.bound(OUT)
    assert outputs.gap(OUT) == Gap(HALF, size - HALF)
    assert stored(outputs, runtime) == (size, pattern(0, HALF) + pattern(size - HALF, size))


@pytest.mark.parametrize("other", [4 * MOST, MOST // 2])
def test_a_worker_with_another_bound_goes_on_from_the_hole_that_there_is(
    outputs: Outputs, runtime: Runtime, other: int
) -> None:
    prints(outputs, MOST + SLACK_BYTES)
    needs_holes(outputs)
    later = Outputs(runtime.host, runtime.data_dir, "job_1.1", other)
    size = MOST + 3 * SLACK_BYTES
    prints(later, size)
    assert later.bound(OUT)
    assert later.gap(OUT) == Gap(HALF, size - HALF)
    assert stored(later, runtime) == (size, pattern(0, HALF) + pattern(size - HALF, size))


def test_where_there_are_no_holes_that_is_told_only_once_it_is_too_much(runtime: Runtime) -> None:
    outputs = Outputs(Solid(runtime.host), runtime.data_dir, "job_1.1", MOST)  # type: ignore[arg-type]
    outputs.make_folder()
    prints(outputs, MOST + SLACK_BYTES - 1)
    assert outputs.bound(OUT)
    prints(outputs, MOST + SLACK_BYTES)
    assert not outputs.bound(OUT)
    size = MOST + SLACK_BYTES
    assert stored(outputs, runtime) == (size, pattern(0, HALF) + pattern(size - HALF, size))


def test_the_folder_of_an_earlier_start_is_made_anew(outputs: Outputs) -> None:
    prints(outputs, MOST)
    outputs.make_folder()
    assert os.listdir(outputs.folder) == []


def test_what_is_gone_is_empty_and_can_be_removed_again(outputs: Outputs, runtime: Runtime) -> None:
    prints(outputs, 10)
    outputs.remove()
    outputs.remove()
    assert not os.path.exists(outputs.folder)
    assert outputs.size(OUT) == 0
    assert outputs.gap(OUT) is None
    assert outputs.store(runtime.blobs, OUT) is None


def test_who_reads_an_output_keeps_nobody_from_removing_it(outputs: Outputs) -> None:
    prints(outputs, 10)
    descriptor = outputs.descriptor(OUT)
    try:
        outputs.remove()
        assert not os.path.exists(outputs.path(OUT))
    finally:
        os.close(descriptor)


@not_emulated("it refuses to replace what is open, as Windows did before it had POSIX renames")
def test_who_reads_a_note_keeps_nobody_from_making_a_new_one(outputs: Outputs) -> None:
    prints(outputs, MOST + SLACK_BYTES)
    needs_holes(outputs)
    before = outputs.gap(OUT)
    descriptor = outputs._descriptor(OUT + ".gap")
    try:
        prints(outputs, MOST + 2 * SLACK_BYTES)
        assert outputs.bound(OUT)
        assert outputs.gap(OUT) != before
    finally:
        os.close(descriptor)


def test_a_note_that_was_cut_short_is_none(outputs: Outputs) -> None:
    Path(outputs.path(OUT) + ".gap").write_bytes(b"12")
    assert outputs.gap(OUT) is None


def test_on_a_full_disk_nothing_is_stored_and_the_file_stays(
    outputs: Outputs, runtime: Runtime, small_disk: Path
) -> None:
    prints(outputs, MOST)
    (small_disk / "blobs").mkdir()
    with open(small_disk / "rest", "wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4_096))
    with pytest.raises(NoSpace):
        outputs.store(Blobs(runtime.host, str(small_disk)), OUT)
    assert stored(outputs, runtime) == (MOST, pattern(0, MOST))


def test_what_is_printed_while_it_is_stored_is_not_counted(outputs: Outputs, runtime: Runtime) -> None:
    class Late(Blobs):
        def store(self, chunks: Iterable[bytes], *, sync: bool) -> Body:
            prints(outputs, MOST + 5_000)
            return super().store(chunks, sync=sync)

    prints(outputs, MOST + 100)
    found = outputs.store(Late(runtime.host, runtime.data_dir), OUT)
    assert found is not None
    assert (found.printed, found.body.size) == (MOST + 100, MOST)
    kept = pattern(0, HALF) + pattern(HALF + 100, MOST + 100)
    assert b"".join(runtime.blobs.chunks(found.body.sha256)) == kept
