from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.errors import BackupMissing, NoSpace
from hearth.platforms.local import local_host
from hearth.store.blobs import Blobs, BodyWriter

LONG_AGO = 1_000_000_000
ROUNDS = 100
HELLO = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def blobs(data: Path) -> Blobs:
    return Blobs(local_host(), str(data))


def files(data: Path) -> list[str]:
    """The files below a folder."""
    return sorted(path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file())


def put(blobs: Blobs, content: bytes = b"hello", *, sync: bool = False) -> str:
    return blobs.store([content], sync=sync).sha256


def grow_old(data: Path, name: str) -> None:
    os.utime(data / "blobs" / name[:2] / name[2:], (LONG_AGO, LONG_AGO))


def test_a_body_lies_under_its_hash(blobs: Blobs, data: Path) -> None:
    assert blobs.store([b"hel", b"lo"], sync=True) == (HELLO, 5, b"", b"")
    assert files(data) == [f"blobs/{HELLO[:2]}/{HELLO[2:]}"]
    assert b"".join(blobs.chunks(HELLO)) == b"hello"


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps strangers out by inherited ACL, not by mode")
def test_nobody_else_may_read_a_body(blobs: Blobs, data: Path) -> None:
    put(blobs)
    modes = {path.stat().st_mode & 0o777 for path in (data / "blobs").rglob("*")}
    assert modes == {0o700, 0o600}


def test_equal_bodies_are_one_file(blobs: Blobs, data: Path) -> None:
    assert put(blobs) == put(blobs)
    assert len(files(data)) == 1


def test_a_body_that_lost_its_end_is_stored_anew(blobs: Blobs, data: Path) -> None:
    name = put(blobs)
    (data / "blobs" / name[:2] / name[2:]).write_bytes(b"he")
    put(blobs)
    assert blobs.verify(name) == 5


@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(0, 20))
def test_head_and_tail_are_those_of_the_whole(pieces: list[bytes], keep: int) -> None:
    with open(os.devnull, "wb") as file:
        writer = BodyWriter(file, keep)
        for piece in pieces:
            writer.write(piece)
        whole = b"".join(pieces)
        tail = whole[-keep:] if keep else b""
        assert writer.finish() == (hashlib.sha256(whole).hexdigest(), len(whole), whole[:keep], tail)


@pytest.mark.parametrize(
    ("start", "length", "expected"), [(0, None, b"hello"), (1, 3, b"ell"), (3, 9, b"lo"), (5, 1, b""), (9, None, b"")]
)
def test_a_part_can_be_read(blobs: Blobs, start: int, length: int | None, expected: bytes) -> None:
    assert b"".join(blobs.chunks(put(blobs), start, length)) == expected


def test_a_writer_that_fails_leaves_nothing(blobs: Blobs, data: Path) -> None:
    with pytest.raises(RuntimeError), blobs.writer(sync=True) as writer:
        writer.write(b"hello")
        raise RuntimeError
    assert files(data) == []


def test_a_missing_body_is_named(blobs: Blobs) -> None:
    for read in (blobs.size, blobs.verify, lambda name: list(blobs.chunks(name))):
        with pytest.raises(BackupMissing, match="is gone"):
            read(HELLO)


def test_a_name_cannot_lead_elsewhere(blobs: Blobs) -> None:
    with pytest.raises(BackupMissing, match="is not the name"):
        blobs.size("../" * 21 + "x")


def test_a_damaged_body_is_told_before_its_content_is_used(blobs: Blobs, data: Path) -> None:
    name = put(blobs)
    (data / "blobs" / name[:2] / name[2:]).write_bytes(b"jello")
    with pytest.raises(BackupMissing, match="is damaged"):
        blobs.verify(name)


def test_a_full_disk_leaves_nothing_behind(small_disk: Path) -> None:
    blobs = Blobs(local_host(), str(small_disk))
    with pytest.raises(NoSpace):
        blobs.store([os.urandom(600_000)] * 2, sync=True)
    assert files(small_disk) == []
    assert blobs.verify(put(blobs)) == 5


def test_an_old_body_is_removed_and_a_young_one_stays(blobs: Blobs, data: Path) -> None:
    old, young = put(blobs, b"old"), put(blobs, b"young")
    grow_old(data, old)
    assert [blobs.remove(name, untouched_since=LONG_AGO + 1) for name in (old, young)] == [True, False]
    assert files(data) == [f"blobs/{young[:2]}/{young[2:]}"]


def test_storing_a_body_again_makes_it_young(blobs: Blobs, data: Path) -> None:
    name = put(blobs)
    grow_old(data, name)
    put(blobs)
    assert not blobs.remove(name, untouched_since=LONG_AGO + 1)
    assert blobs.verify(name) == 5


def test_what_a_killed_removal_left_comes_back(blobs: Blobs, data: Path) -> None:
    name = put(blobs)
    path = data / "blobs" / name[:2] / name[2:]
    path.rename(path.with_name(path.name + ".gone"))
    assert [kept.sha256 for kept in blobs.kept()] == [name]
    assert blobs.verify(name) == 5


def test_a_body_stored_while_it_is_removed_is_there_afterwards(blobs: Blobs, data: Path) -> None:
    both = threading.Barrier(2)

    def remove() -> None:
        for _ in range(ROUNDS):
            both.wait(5)
            blobs.remove(HELLO, untouched_since=LONG_AGO + 1)
            both.wait(5)

    thread = threading.Thread(target=remove)
    put(blobs)
    thread.start()
    there = 0
    for _ in range(ROUNDS):
        grow_old(data, HELLO)
        both.wait(5)
        put(blobs)
        both.wait(5)
        there += blobs.verify(HELLO) == 5
    thread.join(timeout=5)
    assert there == ROUNDS
