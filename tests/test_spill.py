"""What a program prints, kept in memory or on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.platforms.local import local_host
from hearth.platforms.processes import Stream
from hearth.spill import Bounds, Capture, Kept
from hearth.store.blobs import Blobs

PIECES = st.lists(st.tuples(st.sampled_from(Stream), st.binary(min_size=1, max_size=40)), max_size=30)


@pytest.fixture
def blobs(tmp_path: Path) -> Iterator[Blobs]:
    yield Blobs(local_host(), str(tmp_path / "data"))


def exactly(blobs: Blobs, kept: Kept) -> bytes:
    return b"".join(blobs.verified(kept.body.sha256)) if kept.body else kept.data or b""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, st.integers(0, 200), st.integers(0, 20), st.integers(0, 300))
def test_every_byte_within_the_bound_is_kept_in_order(
    blobs: Blobs, pieces: list[tuple[Stream, bytes]], inline: int, preview: int, most: int
) -> None:
    with Capture(lambda: blobs, Bounds(inline, preview, most), merged=True) as capture:
        for stream, data in pieces:
            capture.deliver(stream, data)
    merged = capture.kept_merged()
    assert merged is not None
    everything = b"".join(data for _, data in pieces)
    assert (exactly(blobs, merged), merged.size) == (everything[:most], len(everything))
    parts = [capture.kept(stream) for stream in Stream]
    in_memory = [*parts, merged]
    assert sum(len(kept.data) for kept in in_memory if kept.data) <= inline
    assert sum(len(exactly(blobs, kept)) for kept in parts) == min(most, len(everything))
    for stream, kept in zip(Stream, parts, strict=True):
        printed = b"".join(data for of, data in pieces if of is stream)
        whole = exactly(blobs, kept)
        assert kept.size == len(printed)
        assert printed.startswith(whole) or kept.truncated
        assert whole.startswith(kept.head) and whole.endswith(kept.tail)
        assert len(kept.head) + len(kept.tail) <= len(whole)


def test_nothing_stays_of_a_call_that_failed(blobs: Blobs, tmp_path: Path) -> None:
    with pytest.raises(KeyError), Capture(lambda: blobs, Bounds(10, 5, 1_000)) as capture:
        capture.deliver(Stream.STDOUT, b"x" * 100)
        raise KeyError
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == []


def test_small_output_touches_no_disk(tmp_path: Path) -> None:
    def refused() -> Blobs:
        raise AssertionError("the disk was asked for")

    with Capture(refused, Bounds(10, 5, 1_000)) as capture:
        capture.deliver(Stream.STDERR, b"x" * 10)
    assert capture.kept(Stream.STDERR) == Kept(10, b"x" * 10, None, False)
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]
