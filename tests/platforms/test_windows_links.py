"""Reparse points as they lie on the disk, read on every system."""

from __future__ import annotations

import struct

import pytest

from hearth.platforms.windows_links import LX_SYMLINK, MOUNT_POINT, SYMLINK, link_target


def symlink(substitute: str, shown: str, *, relative: bool) -> bytes:
    # https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_reparse_data_buffer, shown name first
    first, second = shown.encode("utf-16-le"), substitute.encode("utf-16-le")
    names = struct.pack("<HHHHI", len(first), len(second), 0, len(first), relative) + first + second
    return struct.pack("<IHH", SYMLINK, len(names), 0) + names


def junction(substitute: str) -> bytes:
    text = substitute.encode("utf-16-le")
    names = struct.pack("<HHHH", 0, len(text), len(text) + 2, 0) + text + b"\0\0\0\0"
    return struct.pack("<IHH", MOUNT_POINT, len(names), 0) + names


@pytest.mark.parametrize(
    ("point", "target"),
    [
        (symlink("..\\a b", "..\\a b", relative=True), "..\\a b"),
        (symlink("\\??\\C:\\x", "C:\\x", relative=False), "C:\\x"),
        (symlink("\\??\\UNC\\srv\\share\\x", "\\\\srv\\share\\x", relative=False), "\\\\srv\\share\\x"),
        (junction("\\??\\C:\\Users\\é"), "C:\\Users\\é"),
        (junction("\\??\\Volume{0}\\"), "\\\\?\\Volume{0}\\"),
        (struct.pack("<IHHI", LX_SYMLINK, 10, 0, 2) + "../né".encode() + b"beyond", "../né"),
    ],
)
def test_a_link_tells_its_target_as_a_user_would_write_it(point: bytes, target: str) -> None:
    assert link_target(point) == target
