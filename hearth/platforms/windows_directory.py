"""Directories of Windows by handle: a name is looked up once, relative to its directory, and never followed.

A directory's handle does not share deletion, so the system keeps it and everything above it where it is, under its
name, until the handle is closed.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hearth.errors import NotRegular
from hearth.platforms import windows_nt as nt
from hearth.platforms.base import Directory, Entry, Identity, Kind
from hearth.platforms.windows_links import LX_SYMLINK, MOUNT_POINT, SYMLINK, link_target
from hearth.platforms.windows_paths import extended, join, refuse_name, refuse_path

assert sys.platform == "win32"

_WALK = nt.FILE_TRAVERSE | nt.FILE_READ_ATTRIBUTES
_EPOCH = 116_444_736_000_000_000  # 1970 in the system's count of 100 ns since 1601
_PROGRAMS = (".bat", ".cmd", ".com", ".exe")
# Reparse points that are not the file or directory they stand for; cloud files, deduplicated and compressed ones are.
_KINDS = {
    SYMLINK: Kind.LINK,
    MOUNT_POINT: Kind.LINK,  # and junctions
    LX_SYMLINK: Kind.LINK,
    0x80000023: Kind.SOCKET,  # AF_UNIX
    0x80000024: Kind.FIFO,  # these three by the Linux subsystem
    0x80000025: Kind.DEVICE,
    0x80000026: Kind.DEVICE,
}
_POSIX_RENAME = 0x2
_RENAME_REPLACE = 0x1
_RENAME_IGNORE_READONLY = 0x40
_POSIX_DELETE = 0x1 | 0x2 | 0x10  # delete, POSIX semantics, ignore the read-only attribute
_FSCTL_GET_REPARSE_POINT = 0x000900A8
_SYMLINK_TO_DIRECTORY = 0x1
_SYMLINK_UNPRIVILEGED = 0x2


def entry_from(handle: int, name: str) -> Entry:
    """What is open."""
    status, found = nt.query(handle, nt.ALL_INFORMATION, 1024)
    if status not in (nt.STATUS_SUCCESS, nt.STATUS_BUFFER_OVERFLOW):  # the overflow is the path, which is last
        raise nt.status_error(status, name)
    created, accessed, modified, changed, attributes = struct.unpack_from("<4qI", found)
    size, links = struct.unpack_from("<qI", found, 48)
    kind = _kind(attributes, _tag(handle) if attributes & nt.ATTRIBUTE_REPARSE_POINT else 0)
    return Entry(
        name,
        kind,
        0 if kind is Kind.DIRECTORY else size,
        _ns(modified),
        _ns(accessed),
        _ns(changed),
        _ns(created),
        _mode(name, kind, attributes),
        0,
        0,
        links,
        identity_of(handle),
        attributes,
    )


def _ns(filetime: int) -> int:
    return (filetime - _EPOCH) * 100


def _mode(name: str, kind: Kind, attributes: int) -> int:
    runs = kind is Kind.DIRECTORY or name.lower().endswith(_PROGRAMS)
    return (0o444 if attributes & nt.ATTRIBUTE_READONLY else 0o666) | (0o111 if runs else 0)


def _tag(handle: int) -> int:
    status, found = nt.query(handle, nt.ATTRIBUTE_TAG_INFORMATION, 8)
    return int(struct.unpack("<II", found)[1]) if status == nt.STATUS_SUCCESS else 0


def _kind(attributes: int, tag: int) -> Kind:
    if tag in _KINDS:
        return _KINDS[tag]
    return Kind.DIRECTORY if attributes & nt.ATTRIBUTE_DIRECTORY else Kind.FILE


def identity_of(handle: int) -> Identity:
    status, found = nt.query(handle, nt.ID_INFORMATION, 24)
    if status == nt.STATUS_SUCCESS:
        return Identity(int.from_bytes(found[:8], "little"), int.from_bytes(found[8:], "little"))
    return _older_identity(handle)


def _older_identity(handle: int) -> Identity:
    import ctypes

    # BY_HANDLE_FILE_INFORMATION: for FAT and older servers, whose ids have 64 bits.
    found = ctypes.create_string_buffer(52)
    if not nt.kernel32.GetFileInformationByHandle(handle, found):
        raise nt.last_error("")
    volume, high, low = struct.unpack_from("<28xI8xxxxxII", found.raw.ljust(52))
    return Identity(volume, high << 32 | low)


class WindowsDirectory:
    """A directory by its handle."""

    def __init__(self, handle: int, path: str) -> None:
        self.handle = handle
        self.path = path

    @property
    def identity(self) -> Identity:
        return identity_of(self.handle)

    def entry(self, name: str) -> Entry:
        with self._opened(name, nt.FILE_READ_ATTRIBUTES) as handle:
            return entry_from(handle, name)

    def scan(self) -> Iterator[tuple[str, Kind]]:
        # A handle of its own: the position of a listing belongs to the handle.
        with nt.closing(nt.reopen(self.handle, nt.FILE_LIST_DIRECTORY, share=nt.SHARE_READ_WRITE)) as handle:
            for name, attributes, tag in nt.list_names(handle):
                yield name, _kind(attributes, tag if attributes & nt.ATTRIBUTE_REPARSE_POINT else 0)

    def open_directory(self, name: str) -> WindowsDirectory:
        path = join(self.path, name)
        handle = self._open(name, _WALK, share=nt.SHARE_READ_WRITE, options=nt.FILE_DIRECTORY_FILE)
        with _owned(handle):
            tag = _tag(handle)
            if _kind(nt.ATTRIBUTE_DIRECTORY, tag) is Kind.LINK:
                raise _is_link(path)
            return WindowsDirectory(_content(handle, tag, _WALK, nt.SHARE_READ_WRITE), path)

    def read_link(self, name: str) -> str:
        with self._opened(name, nt.FILE_READ_ATTRIBUTES) as handle:
            if _KINDS.get(_tag(handle)) is not Kind.LINK:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), join(self.path, name))
            return link_target(nt.control(handle, _FSCTL_GET_REPARSE_POINT, 16 * 1024))

    def open_file(self, name: str, *, writable: bool = False) -> int:
        if name == ".":
            raise nt.status_error(nt.STATUS_FILE_IS_A_DIRECTORY, self.path)
        access = nt.FILE_GENERIC_READ | (nt.FILE_GENERIC_WRITE if writable else 0)
        try:
            handle = self._open(name, access, options=nt.FILE_NON_DIRECTORY_FILE)
        except IsADirectoryError:
            self._refuse_special(name, self.entry(name).kind)
            raise
        with _owned(handle):
            tag = _tag(handle)
            self._refuse_special(name, _kind(0, tag))
            return descriptor_of(_content(handle, tag, access, nt.SHARE_ALL))

    def _refuse_special(self, name: str, kind: Kind) -> None:
        path = join(self.path, name)
        if kind is Kind.LINK:
            raise _is_link(path)
        if kind not in (Kind.FILE, Kind.DIRECTORY):
            raise NotRegular(f"{path} is a {kind}, not a regular file", path=path, kind=str(kind))

    def create_file(self, name: str, mode: int = 0o666) -> int:
        refuse_name(name)
        handle = self._open(
            name,
            nt.FILE_GENERIC_READ | nt.FILE_GENERIC_WRITE,
            disposition=nt.FILE_CREATE,
            options=nt.FILE_NON_DIRECTORY_FILE,
            attributes=nt.ATTRIBUTE_NORMAL if mode & 0o200 else nt.ATTRIBUTE_READONLY,
        )
        with _owned(handle):
            return descriptor_of(handle)

    def make_directory(self, name: str, mode: int = 0o777) -> None:
        refuse_name(name)
        nt.close(
            self._open(
                name,
                nt.FILE_READ_ATTRIBUTES,
                disposition=nt.FILE_CREATE,
                options=nt.FILE_DIRECTORY_FILE,
                security=None if mode & 0o077 else _private(),
            )
        )

    def make_link(self, name: str, target: str, *, directory: bool = False) -> None:
        refuse_name(name)
        # By path, because only this call knows the developer mode; the handle keeps every name on it as it is.
        path = extended(join(nt.final_path(self.handle), name))
        kind = _SYMLINK_UNPRIVILEGED | (_SYMLINK_TO_DIRECTORY if directory else 0)
        if not nt.kernel32.CreateSymbolicLinkW(path, target, kind):
            raise nt.last_error(join(self.path, name))

    def rename(self, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        assert isinstance(to, WindowsDirectory)
        refuse_name(new_name)
        with self._opened(name, nt.DELETE | nt.FILE_READ_ATTRIBUTES) as handle:
            status = _rename(handle, to.handle, new_name, replace=replace)
        if status == nt.STATUS_ACCESS_DENIED and replace and to.holds_directory(new_name):
            status = nt.STATUS_FILE_IS_A_DIRECTORY  # nothing that another try would change
        if status != nt.STATUS_SUCCESS:
            raise nt.status_error(status, join(to.path, new_name))

    def holds_directory(self, name: str) -> bool:
        try:
            return self.entry(name).kind is Kind.DIRECTORY
        except OSError:
            return False

    def remove_file(self, name: str) -> None:
        with self._opened(name, nt.DELETE | nt.FILE_READ_ATTRIBUTES) as handle:
            entry = entry_from(handle, name)
            if entry.kind is Kind.DIRECTORY:
                raise nt.status_error(nt.STATUS_FILE_IS_A_DIRECTORY, join(self.path, name))
            self._remove(handle, entry)

    def remove_directory(self, name: str) -> None:
        with self._opened(name, nt.DELETE | nt.FILE_READ_ATTRIBUTES) as handle:
            entry = entry_from(handle, name)
            if entry.kind is not Kind.DIRECTORY:
                raise nt.status_error(nt.STATUS_NOT_A_DIRECTORY, join(self.path, name))
            self._remove(handle, entry)

    def _remove(self, handle: int, entry: Entry) -> None:
        status = nt.change(handle, nt.DISPOSITION_INFORMATION_EX, struct.pack("<I", _POSIX_DELETE))
        if status in nt.UNKNOWN_REQUEST:
            status = _remove_as_of_old(handle, entry)
        if status != nt.STATUS_SUCCESS:
            raise nt.status_error(status, join(self.path, entry.name))

    def set_mode(self, name: str, mode: int) -> None:
        with self._opened(name, nt.FILE_READ_ATTRIBUTES | nt.FILE_WRITE_ATTRIBUTES) as handle:
            entry = entry_from(handle, name)
            if entry.kind is Kind.LINK:
                raise _is_link(join(self.path, name))
            others = entry.attributes & ~nt.ATTRIBUTE_READONLY
            status = set_attributes(handle, others if mode & 0o200 else others | nt.ATTRIBUTE_READONLY)
        if status != nt.STATUS_SUCCESS:
            raise nt.status_error(status, join(self.path, name))

    def sync(self) -> None:
        """Nothing: Windows flushes no directory. NTFS logs changes of names, in order, and writes the log out
        with the next flushed file."""

    def duplicate(self) -> WindowsDirectory:
        return WindowsDirectory(nt.duplicate(self.handle), self.path)

    def close(self) -> None:
        nt.close(self.handle)

    def _open(
        self,
        name: str,
        access: int,
        *,
        share: int = nt.SHARE_ALL,
        disposition: int = nt.FILE_OPEN,
        options: int = 0,
        attributes: int = 0,
        security: bytes | None = None,
    ) -> int:
        refuse_path(name)
        status, handle = nt.open_relative(
            self.handle,
            name,
            access,
            share=share,
            disposition=disposition,
            options=options,
            attributes=attributes,
            security=security,
        )
        if status != nt.STATUS_SUCCESS:
            raise nt.status_error(status, join(self.path, name))
        return handle

    @contextmanager
    def _opened(self, name: str, access: int) -> Iterator[int]:
        opened = nt.reopen(self.handle, access) if name == "." else self._open(name, access)
        with nt.closing(opened) as handle:
            yield handle


def descriptor_of(handle: int) -> int:
    """The C descriptor that owns the handle from now on."""
    import msvcrt

    return msvcrt.open_osfhandle(handle, os.O_RDWR | os.O_BINARY | os.O_NOINHERIT)


def set_attributes(handle: int, attributes: int, created: int = 0) -> int:
    """Set attributes, and the time of creation (100 ns since 1601) unless it is 0; the status."""
    basic = struct.pack("<4qI4x", created, 0, 0, 0, attributes or nt.ATTRIBUTE_NORMAL)
    return nt.change(handle, nt.BASIC_INFORMATION, basic)


@contextmanager
def _owned(handle: int) -> Iterator[None]:
    """Close the handle unless it was handed on."""
    try:
        yield
    except BaseException:
        nt.close(handle)
        raise


def _content(handle: int, tag: int, access: int, share: int) -> int:
    """The handle, or when it shows a reparse point itself (a cloud or deduplicated file) one that shows what the
    point stands for. By handle, and compared, so that it is still the same file."""
    if not tag:
        return handle
    content = nt.reopen(handle, access | nt.SYNCHRONIZE, share=share)
    with _owned(content):
        if identity_of(content) != identity_of(handle):
            raise _is_link("")
        nt.close(handle)
        return content


def _is_link(path: str) -> OSError:
    return OSError(errno.ELOOP, "is a link", path)


def _private() -> bytes:
    from hearth.platforms.windows_security import private_descriptor

    return private_descriptor()


def _rename(handle: int, to: int, new_name: str, *, replace: bool) -> int:
    name = new_name.encode("utf-16-le", "surrogatepass")
    flags = _RENAME_REPLACE if replace else 0
    ways = (
        # POSIX semantics: a file can be replaced while others have it open, if they share deletion.
        (nt.RENAME_INFORMATION_EX, flags | _POSIX_RENAME | _RENAME_IGNORE_READONLY),
        (nt.RENAME_INFORMATION_EX, flags | _POSIX_RENAME),
        (nt.RENAME_INFORMATION, flags),  # before Windows 10 1607, FAT, many servers
    )
    for kind, how in ways:
        status = nt.change(handle, kind, struct.pack("@IPI", how, to, len(name)) + name + b"\0\0")
        if status not in nt.UNKNOWN_REQUEST:
            break
    return status


def _remove_as_of_old(handle: int, entry: Entry) -> int:
    """Mark for deletion where the system knows only the older call, which the read-only attribute stops."""
    if not entry.attributes & nt.ATTRIBUTE_READONLY:
        return nt.change(handle, nt.DISPOSITION_INFORMATION, b"\1")
    with nt.closing(nt.reopen(handle, nt.FILE_WRITE_ATTRIBUTES, flags=nt.FILE_FLAG_OPEN_REPARSE_POINT)) as other:
        set_attributes(other, entry.attributes & ~nt.ATTRIBUTE_READONLY)
        status = nt.change(handle, nt.DISPOSITION_INFORMATION, b"\1")
        if status != nt.STATUS_SUCCESS:
            set_attributes(other, entry.attributes)
        return status
