"""Linux and macOS: directories as descriptors, so that a name is looked up once and never followed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import posixpath
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hearth.errors import CannotKeepOwner, InvalidName, Locked, NotRegular
from hearth.platforms.base import Directory, Entry, Identity, Kind

if TYPE_CHECKING:
    from hearth.platforms.bells import Bell
    from hearth.platforms.folder_watch import FolderWatch

_KINDS = {
    stat.S_IFREG: Kind.FILE,
    stat.S_IFDIR: Kind.DIRECTORY,
    stat.S_IFLNK: Kind.LINK,
    stat.S_IFIFO: Kind.FIFO,
    stat.S_IFSOCK: Kind.SOCKET,
}
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# O_PATH needs no read permission on a directory that is only walked through; macOS has O_SEARCH for that.
_WALK_FLAGS = getattr(os, "O_PATH", getattr(os, "O_SEARCH", os.O_RDONLY)) | os.O_DIRECTORY | os.O_CLOEXEC

REAL_PATH_LOOKS = 3

MOST_PROGRAMS = 256
# A running program takes five descriptors and one for each output that goes to the disk, a start some more for a
# moment; hearth itself has its standard streams, the database and what other calls read.
PER_PROGRAM = 10
OWN_DESCRIPTORS = 24


def kind_of(mode: int) -> Kind:
    return _KINDS.get(stat.S_IFMT(mode), Kind.DEVICE)


def entry_from(name: str, found: os.stat_result) -> Entry:
    birth = getattr(found, "st_birthtime", None)
    return Entry(
        name,
        kind_of(found.st_mode),
        found.st_size,
        found.st_mtime_ns,
        found.st_atime_ns,
        found.st_ctime_ns,
        int(birth * 1e9) if birth else None,
        stat.S_IMODE(found.st_mode),
        found.st_uid,
        found.st_gid,
        found.st_nlink,
        Identity(found.st_dev, found.st_ino),
        0,
    )


class PosixDirectory:
    """A directory by its descriptor."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path

    @property
    def identity(self) -> Identity:
        found = os.fstat(self.descriptor)
        return Identity(found.st_dev, found.st_ino)

    def entry(self, name: str) -> Entry:
        return entry_from(name, os.stat(name, dir_fd=self.descriptor, follow_symlinks=False))

    def scan(self) -> Iterator[tuple[str, Kind]]:
        # A descriptor of its own: O_PATH ones cannot be read, and two scans of one would share a position.
        descriptor = os.open(".", _DIRECTORY_FLAGS, dir_fd=self.descriptor)
        try:
            with os.scandir(descriptor) as found:
                for item in found:
                    yield item.name, _kind_of_item(item)
        finally:
            os.close(descriptor)

    def open_directory(self, name: str) -> PosixDirectory:
        descriptor = os.open(name, _WALK_FLAGS | os.O_NOFOLLOW, dir_fd=self.descriptor)
        return PosixDirectory(descriptor, posixpath.join(self.path, name))

    def read_link(self, name: str) -> str:
        return os.readlink(name, dir_fd=self.descriptor)

    def open_file(self, name: str, *, writable: bool = False) -> int:
        self._refuse_special(name, kind_of(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False).st_mode))
        access = os.O_RDWR if writable else os.O_RDONLY
        # O_NONBLOCK: should the name become a FIFO in between, the open must not wait for its other end.
        flags = access | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=self.descriptor)
        try:
            self._refuse_special(name, kind_of(os.fstat(descriptor).st_mode))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _refuse_special(self, name: str, kind: Kind) -> None:
        if kind is Kind.FILE:
            return
        path = posixpath.join(self.path, name)
        if kind is Kind.LINK:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if kind is Kind.DIRECTORY:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise NotRegular(f"{path} is a {kind}, not a regular file", path=path, kind=str(kind))

    def create_file(self, name: str, mode: int = 0o666) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, mode, dir_fd=self.descriptor)

    def make_directory(self, name: str, mode: int = 0o777) -> None:
        os.mkdir(name, mode, dir_fd=self.descriptor)

    def make_link(self, name: str, target: str, *, directory: bool = False) -> None:  # noqa: ARG002
        os.symlink(target, name, dir_fd=self.descriptor)

    def rename(self, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        assert isinstance(to, PosixDirectory)
        if replace:
            os.rename(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)
        else:
            rename_exclusive(self.descriptor, name, to.descriptor, new_name)

    def remove_file(self, name: str) -> None:
        os.unlink(name, dir_fd=self.descriptor)

    def remove_directory(self, name: str) -> None:
        os.rmdir(name, dir_fd=self.descriptor)

    def set_mode(self, name: str, mode: int) -> None:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.descriptor)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        descriptor = os.open(".", _DIRECTORY_FLAGS, dir_fd=self.descriptor)
        try:
            os.fsync(descriptor)
        except OSError as error:
            # Some file systems (9p, some FUSE ones) cannot sync a directory; that is all there is to do then.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)

    def duplicate(self) -> PosixDirectory:
        return PosixDirectory(os.dup(self.descriptor), self.path)

    def close(self) -> None:
        os.close(self.descriptor)


def _kind_of_item(item: os.DirEntry[str]) -> Kind:
    if item.is_symlink():
        return Kind.LINK
    if item.is_dir(follow_symlinks=False):
        return Kind.DIRECTORY
    if item.is_file(follow_symlinks=False):
        return Kind.FILE
    try:
        return kind_of(item.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:  # removed since it was listed
        return Kind.FILE


@functools.cache
def _rename_call() -> tuple[Any, int]:
    """The rename that refuses a taken name, and its flag; loading the library takes longer than the call."""
    import ctypes
    import sys

    library = ctypes.CDLL(None, use_errno=True)
    return (library.renameatx_np, 4) if sys.platform == "darwin" else (library.renameat2, 1)


def rename_exclusive(source_fd: int, source: str, target_fd: int, target: str) -> None:
    """Rename unless the new name is taken. Linux: renameat2(2) with RENAME_NOREPLACE; macOS: renameatx_np(2)
    with RENAME_EXCL. Where the file system knows neither: a hard link, which refuses a taken name, then unlink."""
    import ctypes

    call, flag = _rename_call()
    result = call(source_fd, os.fsencode(source), target_fd, os.fsencode(target), ctypes.c_uint(flag))
    if result == 0:
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(number, os.strerror(number), target)
    os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
    os.unlink(source, dir_fd=source_fd)


class PosixHost:
    """What Linux and macOS share."""

    name = "posix"
    case_sensitive = True

    def open_root(self, path: str) -> PosixDirectory:
        return PosixDirectory(os.open(path, _WALK_FLAGS), path)

    def real_path(self, path: str) -> str:
        for _ in range(REAL_PATH_LOOKS):
            # Before Python 3.13 realpath fails where a link goes away between its look and its read.
            with contextlib.suppress(OSError):
                return posixpath.realpath(path)
        above, name = posixpath.split(path)
        return posixpath.join(self.real_path(above), name)  # as later Pythons: what cannot be read is no link

    def unbounded(self, path: str) -> str:
        return path

    def absolute(self, path: str, base: str) -> str:
        joined = posixpath.normpath(posixpath.join(base, path))
        # normpath keeps exactly two leading slashes, which POSIX leaves to the system and ours treats as one.
        return joined[1:] if joined.startswith("//") else joined

    def parts(self, path: str) -> tuple[str, tuple[str, ...]]:
        return "/", tuple(part for part in path.split("/") if part)

    def same_name(self, one: str, other: str) -> bool:
        return one == other

    def refuse_name(self, name: str) -> None:
        if "\0" in name:
            raise InvalidName("a name cannot hold a NUL character", name=name)

    def entry_of(self, descriptor: int, name: str) -> Entry:
        return entry_from(name, os.fstat(descriptor))

    def copy_metadata(self, source: int, target: int) -> None:
        old, new = os.fstat(source), os.fstat(target)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            try:
                os.fchown(target, old.st_uid, old.st_gid)
            except PermissionError as error:
                raise CannotKeepOwner("only the administrator may give the file back to its owner") from error
        # After the owner: a change of owner clears the set-user-id bit.
        os.fchmod(target, stat.S_IMODE(old.st_mode))
        self._copy_attributes(source, target)

    def _copy_attributes(self, source: int, target: int) -> None:
        raise NotImplementedError

    def sync_file(self, descriptor: int) -> None:
        os.fsync(descriptor)

    @contextlib.contextmanager
    def lock(self, path: str, timeout_ms: int) -> Iterator[None]:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # flock belongs to the open file, so threads of one process exclude each other as processes do.
            _take(descriptor, path, timeout_ms)
            yield
        finally:
            os.close(descriptor)

    def make_private_directory(self, path: str) -> None:
        os.makedirs(path, mode=0o700, exist_ok=True)

    def process_start(self, pid: int) -> str | None:
        raise NotImplementedError

    def boot_id(self) -> str:
        raise NotImplementedError

    def make_bell(self, folder: str) -> Bell:
        from hearth.platforms.posix_bells import make_bell

        with contextlib.suppress(OSError):  # the bell does without
            self.make_private_directory(folder)
        return make_bell(folder)

    def ring(self, folder: str, *, but: Bell | None = None) -> int:
        from hearth.platforms.posix_bells import ring

        return ring(folder, None if but is None else but.name)

    def wait_any(self, waitables: Sequence[int], seconds: float | None) -> list[int]:
        from hearth.platforms.posix_bells import wait_any

        return wait_any(waitables, seconds)

    def watch_folder(self, path: str) -> FolderWatch:  # noqa: ARG002
        from hearth.platforms.folder_watch import Untold

        return Untold()

    def start_background(self, words: Sequence[str], environment: Mapping[str, str], log: str) -> int:
        from hearth.platforms.posix_background import start_background

        return start_background(words, environment, log)

    def find_program(self, name: str, environment: Mapping[str, str], directory: str) -> str:
        from hearth.platforms.posix_programs import find_program

        return find_program(name, environment, directory)

    def start_directory(self, directory: Directory) -> str:
        return directory.path

    def most_programs(self) -> int:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return MOST_PROGRAMS if soft < 0 else min(MOST_PROGRAMS, max(1, (soft - OWN_DESCRIPTORS) // PER_PROGRAM))

    def most_descriptors(self, wanted: int) -> int | None:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < wanted:
            more = wanted if hard < 0 else min(wanted, hard)
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if soft < 0 else soft

    def output_encoding(self) -> str | None:
        return None

    def user_data_directory(self) -> str:
        return os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")

    def user_config_directory(self) -> str:
        return os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")


def _take(descriptor: int, path: str, timeout_ms: int) -> None:
    deadline = time.monotonic() + timeout_ms / 1000
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Locked(
                    f"another process held the lock for more than {timeout_ms} ms", lock=path, timeout_ms=timeout_ms
                ) from None
        # The system offers no wait with a limit for these locks; pauses grow to 20 ms, so an idle wait is cheap.
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
