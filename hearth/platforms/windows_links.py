"""What the reparse points hold that Windows uses for links."""

from __future__ import annotations

import struct

SYMLINK = 0xA000000C
MOUNT_POINT = 0xA0000003  # junctions, too
LX_SYMLINK = 0xA000001D  # made by the Linux subsystem


def link_target(point: bytes) -> str:
    """The path in a REPARSE_DATA_BUFFER, as a user would write it."""
    tag = struct.unpack_from("<I", point)[0]
    if tag == LX_SYMLINK:
        length = struct.unpack_from("<H", point, 4)[0]
        return point[12 : 8 + length].decode("utf-8", "surrogateescape")
    offset, length = struct.unpack_from("<HH", point, 8)
    start = (20 if tag == SYMLINK else 16) + offset
    target = point[start : start + length].decode("utf-16-le", "surrogatepass")
    if target.startswith("\\??\\UNC\\"):
        return f"\\\\{target[8:]}"
    if target.startswith("\\??\\Volume{"):
        return f"\\\\?\\{target[4:]}"
    return target.removeprefix("\\??\\")
