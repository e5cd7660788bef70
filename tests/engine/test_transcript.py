"""Outputs as one content: by offsets of what was printed, and by indices of what is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.engine.order import Sizes
from hearth.engine.outputs import Gap, Outputs
from hearth.engine.transcript import FileSource, Moved, Printed, Transcript, alone, pieces, stored, together
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime

OUT, ERR = Stream.STDOUT, Stream.STDERR


class Text:
    """An output in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, start: int, length: int) -> bytes:
        return self.data[start : start + length]


def printed(data: bytes, gap: Gap | None = None) -> Printed:
    return Printed(len(data), gap, Text(data))


def whole(found: Transcript) -> bytes:
    return found.read(0, found.size)


def test_a_whole_output_counts_alike_in_both_ways() -> None:
    found = alone(OUT, printed(b"0123456789"))
    assert (found.size, found.printed, whole(found)) == (10, 10, b"0123456789")
    assert [found.index_of(n) for n in (0, 5, 10, 99)] == [0, 5, 10, 10]
    assert [found.offset_of(n) for n in (0, 5, 10)] == [0, 5, 10]
    assert found.run_around(4) == (0, 10)


def test_behind_a_gap_offsets_go_on_as_they_were_printed() -> None:
    found = alone(OUT, printed(b"0123456789", Gap(2, 7)))
    assert (found.size, found.printed, whole(found)) == (5, 10, b"01789")
    assert [found.index_of(n) for n in (1, 2, 4, 7, 9, 10)] == [1, 2, 2, 2, 4, 5]
    assert [found.offset_of(n) for n in (1, 2, 4, 5)] == [1, 7, 9, 10]
    assert [found.run_around(n) for n in (0, 1, 2, 4)] == [(0, 2), (0, 2), (2, 5), (2, 5)]
    assert found.read(1, 3) == b"178"


def test_an_empty_output_has_no_places() -> None:
    found = alone(OUT, printed(b""))
    assert (found.size, found.index_of(3), found.offset_of(0), found.run_around(0)) == (0, 0, 0, (0, 0))
    assert found.read(0, 10) == b""


def test_a_stored_output_knows_its_gap_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"0189")
    descriptor = os.open(tmp_path / "body", os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        found = alone(OUT, stored(descriptor, 4, 10, "art_1"))
        assert (found.printed, whole(found), found.offset_of(2)) == (10, b"0189", 8)
        assert [piece.start for piece in pieces(OUT, stored(descriptor, 4, 10, "art_1"), start=9)] == [3]
        assert alone(OUT, stored(descriptor, 4, 4, "art_1")).offset_of(2) == 2
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ((), b"a\nb\nc\nX\nY\n"),
        (((2, 0), (2, 2), (4, 2)), b"a\nX\nb\nc\nY\n"),
        (((2, 2), (6, 4)), b"a\nX\nb\nc\nY\n"),
        (((3, 0), (3, 4)), b"a\nX\nY\nb\nc\n"),  # a line stays whole
        (((99, 99),), b"a\nb\nc\nX\nY\n"),
    ],
)
def test_both_outputs_stand_in_the_order_in_which_they_grew(order: tuple[Sizes, ...], text: bytes) -> None:
    found = together({OUT: printed(b"a\nb\nc\n"), ERR: printed(b"X\nY\n")}, order)
    assert (whole(found), found.printed) == (text, 10)
    assert {piece.stream for piece in found.pieces} == {OUT, ERR}


def test_a_gap_in_one_of_both_is_one_in_their_mixture() -> None:
    found = together({OUT: printed(b"a\nb\nc\n", Gap(2, 4)), ERR: printed(b"X\n")}, ((4, 0), (4, 2)))
    assert (whole(found), found.printed, found.size) == (b"a\nX\nc\n", 8, 6)
    assert [found.offset_of(n) for n in range(6)] == [0, 1, 4, 5, 6, 7]


class TestFile:
    @pytest.fixture
    def outputs(self, runtime: Runtime) -> Outputs:
        made = Outputs(runtime.host, runtime.data_dir, "job_1.1.m", 8_192)
        made.make_folder()
        Path(made.path(OUT)).write_bytes(b"0123456789")
        return made

    @pytest.fixture
    def source(self, outputs: Outputs) -> Iterator[FileSource]:
        descriptor = outputs.descriptor(OUT)
        yield FileSource(outputs, OUT, descriptor)
        os.close(descriptor)

    def test_what_comes_is_seen(self, outputs: Outputs, source: FileSource) -> None:
        with open(outputs.path(OUT), "ab") as file:
            file.write(b"ab")
        assert whole(alone(OUT, source.now())) == b"0123456789ab"

    def test_what_is_taken_out_while_it_is_read_is_not_given(self, outputs: Outputs, source: FileSource) -> None:
        before = alone(OUT, source.now())
        Path(outputs.path(OUT) + ".gap").write_text("3 6\n", encoding="ascii")
        assert before.read(0, 3) == b"012"
        assert before.read(6, 9) == b"6789"
        for start, length in ((0, 4), (3, 1), (5, 5), (0, 10)):
            with pytest.raises(Moved):
                before.read(start, length)
        assert whole(alone(OUT, source.now())) == b"0126789"

    def test_a_file_that_is_gone_is_not_trusted(self, outputs: Outputs, source: FileSource) -> None:
        before = alone(OUT, source.now())
        outputs.remove()
        with pytest.raises(Moved):
            before.read(0, 1)
