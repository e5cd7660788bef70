"""Which paths may be touched: the one place that decides it, for every family.

A path is walked from its root, one component at a time, each opened relative to the directory before it and never
followed by the system. Links are read and walked the same way. What comes out is a `Place`: the open parent
directory and a name in it. Acting on a place looks nothing up by path again, so a directory that is swapped for a
link between check and use changes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from hearth.errors import (
    InvalidName,
    LinkLoop,
    MissingParent,
    MissingRoot,
    NoRoots,
    NotFound,
    OutsideRoot,
    ReadOnlyRoot,
    ReservedName,
    from_os,
    invalid,
)
from hearth.platforms.base import Directory, Entry, Host, Identity, Kind
from hearth.platforms.names import is_reserved

MAX_LINKS = 40  # as Linux's own limit, path_resolution(7)


@dataclass(frozen=True, slots=True)
class Root:
    """A directory below which hearth may act. `path` is absolute."""

    path: str
    read_only: bool = False


@dataclass(slots=True)
class Place:
    """A name in an open directory, inside a root. Close it, or use it as a context."""

    root: Root
    directory: Directory
    name: str  # "." when the place is the root itself
    path: str  # absolute, for answers and messages
    entry: Entry | None  # None: nothing stands there
    host: Host
    parents: tuple[str, ...] = ()  # directories between `directory` and `name` that do not exist yet

    @property
    def found(self) -> Entry:
        """What stands there. Raises `NotFound`, with the nearest name that does exist."""
        if self.entry is None:
            raise _not_found(self.directory, self.name, self.path)
        return self.entry

    def open_directory(self) -> Directory:
        """The directory that stands here, open. Raises `NotDirectory` and what the system refuses."""
        with translated(self.path):
            if self.name == ".":
                return self.directory.duplicate()
            return self.directory.open_directory(self.name)

    def open_file(self, *, writable: bool = False) -> int:
        """A descriptor of the regular file that stands here. Raises `NotFound`, `IsDirectory`, `NotRegular`."""
        _ = self.found
        with translated(self.path):
            return self.directory.open_file(self.name, writable=writable)

    def refresh(self) -> Entry | None:
        """Look again at what stands under the name. Raises what the system refuses."""
        with translated(self.path):
            try:
                self.entry = self.directory.entry(self.name)
            except FileNotFoundError:
                self.entry = None
        return self.entry

    def close(self) -> None:
        self.directory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _not_found(directory: Directory, name: str, path: str) -> NotFound:
    with suppress(OSError):
        if near := nearest_name(name, [found for found, _ in directory.scan()]):
            hint = f"did you mean {near!r} in {directory.path}?"
            return NotFound(f"{path} does not exist", hint=hint, path=path, nearest=near)
    return NotFound(f"{path} does not exist", path=path)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn an `OSError` about `path` into the error that the user meets."""
    try:
        yield
    except OSError as error:
        raise from_os(error, path) from error


def nearest_name(wanted: str, names: Sequence[str]) -> str | None:
    """The existing name that was probably meant: the same but for case, spaces or normal form, else a close one."""
    plain = {_plain(name): name for name in names}
    if same := plain.get(_plain(wanted)):
        return same
    from difflib import get_close_matches

    close = get_close_matches(_plain(wanted), plain, 1, 0.75)
    return plain[close[0]] if close else None


def _plain(name: str) -> str:
    import unicodedata

    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(" " if character.isspace() else character for character in folded)


def decode_uri(path: str, *, windows: bool) -> str:
    """The path of a `file://` URI (RFC 8089), or the text as it is. Raises `InvalidInput` for another host."""
    if path[:5].lower() != "file:":
        return path
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(path)
    except ValueError as error:  # a host in brackets that is no address
        raise invalid("path", "wrong_form", f"is no file URI: {error}") from None
    decoded = unquote(parts.path, encoding="utf-8", errors="surrogateescape")
    if parts.netloc not in ("", "localhost"):
        if windows:
            return f"\\\\{parts.netloc}{decoded.replace('/', chr(92))}"
        raise invalid("path", "wrong_host", f"a file URI for the host {parts.netloc!r} cannot be opened here")
    if windows and len(decoded) > 2 and decoded[0] == "/" and decoded[2] == ":":
        return decoded[1:].replace("/", "\\")
    return decoded


class Containment:
    """The roots, opened when they are first needed, and the walk below them."""

    def __init__(self, host: Host, roots: Sequence[Root], *, base: str, private: Sequence[str] = ()) -> None:
        """`base` is where relative paths start; `private` names directories that no path may reach, such as the
        data directory, wherever they lie."""
        self.host = host
        self.roots = tuple(roots)
        self.base = base
        self._private_paths = tuple(private)
        self._spellings: tuple[tuple[Root, str, tuple[str, ...]], ...] | None = None
        self._private: frozenset[Identity] | None = None
        self._nested: dict[Identity, Root] | None = None

    def working_directory(self, wanted: str | None) -> Place:
        """Where a program starts: there, else where relative paths start, or at the first root. Raises what `locate`
        raises. A program may write, so the place must be one that may be written."""
        if wanted is not None:
            return self.locate(wanted, write=True)
        try:
            return self.locate(self.base, write=True)
        except OutsideRoot:
            return self.locate(self.roots[0].path, write=True)

    def locate(self, path: str, *, follow: bool = True, write: bool = False, parents: bool = False) -> Place:
        """Walk to `path` and answer the place, whether or not something stands there.

        `follow` decides about a link at the very end (links on the way are always walked, inside the roots).
        `write` refuses read-only roots and, where nothing stands yet, reserved names. With `parents`, directories
        that are missing on the way are named in the place instead of an error; nothing is made. Raises `OutsideRoot`,
        `NoRoots`, `MissingRoot`, `MissingParent`, `ReadOnlyRoot`, `ReservedName`, `InvalidName`, `LinkLoop` and what
        the system refuses.
        """
        given = self.absolute(path)
        root, relative = self._root_of(given)
        walk = _Walk(self, root, follow=follow, write=write, may_lack_parents=parents and write)
        place = walk.to(relative, given)
        try:
            if write:
                self._refuse_write(place)
        except BaseException:
            place.close()
            raise
        return place

    def absolute(self, path: str) -> str:
        """The absolute path that the words mean. Raises `InvalidInput` and `InvalidName`."""
        if not path:
            raise invalid("path", "too_short", "a path cannot be empty")
        decoded = decode_uri(path, windows=self.host.name == "windows")
        if "\0" in decoded:
            raise InvalidName("a path cannot hold a NUL character")
        return self.host.absolute(decoded, self.base)

    def _refuse_write(self, place: Place) -> None:
        if place.root.read_only:
            raise ReadOnlyRoot(f"{place.path} lies under the read-only root {place.root.path}", root=place.root.path)
        if place.entry is None:
            refuse_new_name(self.host, place.name)

    def _root_of(self, path: str) -> tuple[Root, tuple[str, ...]]:
        for candidate in (path, None):
            # A second try by the real path: another spelling (a short name, a drive mapping, a link from elsewhere
            # into the root). The walk itself starts at the root again, so this decides nothing.
            spelled = candidate or self.host.real_path(path)
            anchor, parts = self.host.parts(spelled)
            for root, root_anchor, root_parts in self._spelled_roots():
                if self._is_below(anchor, parts, root_anchor, root_parts):
                    return root, parts[len(root_parts) :]
        raise self._outside(path)

    def _outside(self, path: str) -> OutsideRoot:
        roots = [root.path for root in self.roots]
        wanted = path if os.path.isdir(path) else os.path.dirname(path)
        return OutsideRoot(
            f"{path} lies outside the roots ({', '.join(roots)})",
            hint=f"add a root with `hearth config roots --add {wanted}`, or pass --root",
            path=path,
            roots=roots,
        )

    def _is_below(self, anchor: str, parts: tuple[str, ...], root_anchor: str, root_parts: tuple[str, ...]) -> bool:
        same = self.host.same_name
        return same(anchor, root_anchor) and len(parts) >= len(root_parts) and all(map(same, parts, root_parts))

    def _spelled_roots(self) -> tuple[tuple[Root, str, tuple[str, ...]], ...]:
        """Every root as it was written and as the system resolves it, the longest first."""
        if self._spellings is None:
            if not self.roots:
                raise NoRoots("no root is configured")
            spelled = {
                (root, *self.host.parts(path))
                for root in self.roots
                for path in (root.path, self.host.real_path(root.path))
            }
            self._spellings = tuple(sorted(spelled, key=lambda each: -len(each[2])))
        return self._spellings

    def open_root(self, root: Root) -> Directory:
        """The root's directory. Raises `MissingRoot`."""
        try:
            return self.host.open_root(root.path)
        except OSError as error:
            raise MissingRoot(f"the root {root.path} cannot be opened: {error.strerror}", root=root.path) from error

    def owner_of(self, directory: Directory, current: Root) -> Root:
        """The root that a directory belongs to: itself when it is one, else the one above. Raises `OutsideRoot`
        for a private directory."""
        if self._private is None or self._nested is None:
            self._private = frozenset(self._identities(self._private_paths))
            self._nested = {}
            if len(self.roots) > 1:
                for root in self.roots:
                    for identity in self._identities([root.path]):
                        self._nested[identity] = root
        if not self._private and not self._nested:
            return current
        with translated(directory.path):  # one of a network file system, gone from its server, has no identity
            identity = directory.identity
        if identity in self._private:
            raise OutsideRoot(f"{directory.path} holds hearth's own data", path=directory.path)
        return self._nested.get(identity, current)

    def _identities(self, paths: Sequence[str]) -> Iterator[Identity]:
        for path in paths:
            with suppress(OSError):
                directory = self.host.open_root(path)
                try:
                    yield directory.identity
                finally:
                    directory.close()

    def covers(self, path: str) -> bool:
        """Whether an absolute path, as it is spelled, lies below a root."""
        try:
            self._root_of(path)
        except (OutsideRoot, NoRoots):
            return False
        return True

    def root_of_link(self, target: str) -> tuple[Root, tuple[str, ...]]:
        """Where an absolute link leads. Raises `OutsideRoot`."""
        return self._root_of(self.host.absolute(target, self.base))


def refuse_new_name(host: Host, name: str) -> None:
    """Raise `ReservedName` or `InvalidName` for a name that must not be made."""
    if is_reserved(name):
        raise ReservedName(f"{name!r} means a device on Windows", name=name)
    host.refuse_name(name)


class _Walk:
    """One walk from a root to a place; holds the directories on the way, so that `..` in a link goes back."""

    def __init__(
        self, containment: Containment, root: Root, *, follow: bool, write: bool, may_lack_parents: bool
    ) -> None:
        self.containment = containment
        self.host = containment.host
        self.follow = follow
        self.write = write
        self.may_lack_parents = may_lack_parents
        self.root = root
        self.stack: list[tuple[Root, Directory]] = []
        self.links = 0

    def to(self, parts: Sequence[str], given: str) -> Place:
        try:
            self._enter_root(self.root)
            place = self._walk(list(reversed(parts)), given)
        except BaseException:
            self._close()
            raise
        kept = self.stack.pop()[1]
        self._close()
        assert kept is place.directory
        return place

    def _enter_root(self, root: Root) -> None:
        self._close()
        directory = self.containment.open_root(root)
        self.stack.append((root, directory))
        self.stack[-1] = (self.containment.owner_of(directory, root), directory)

    def _walk(self, pending: list[str], given: str) -> Place:
        while pending:
            name = pending.pop()
            if name in (".", ""):
                continue
            if name == "..":
                self._leave(given)
                continue
            # A link may end in "." or "..", so the last component is known only once nothing else is pending.
            entry = self._look(name, given)
            is_last = not any(part not in (".", "") for part in pending)
            if entry is not None and entry.kind is Kind.LINK and (self.follow or not is_last):
                self._follow(name, pending, given)
            elif is_last:
                return self._place(name, entry)
            elif entry is None:
                return self._below_missing(name, pending, given)
            else:
                self._enter(name, given)
        return self._place(".", None)

    def _look(self, name: str, given: str) -> Entry | None:
        _, here = self.stack[-1]
        try:
            return here.entry(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise from_os(error, given) from error

    def _enter(self, name: str, given: str) -> None:
        root, here = self.stack[-1]
        try:
            directory = here.open_directory(name)
        except OSError as error:
            raise from_os(error, given) from error
        self.stack.append((root, directory))
        self.stack[-1] = (self.containment.owner_of(directory, root), directory)

    def _below_missing(self, name: str, pending: list[str], given: str) -> Place:
        """The place of a name whose parent does not exist, if the caller is going to make it."""
        root, here = self.stack[-1]
        path = os.path.join(here.path, name)
        if not self.write:
            raise _not_found(here, name, given)
        names = [name, *(part for part in reversed(pending) if part not in (".", ""))]
        if not self.may_lack_parents or ".." in names:
            raise MissingParent(f"{path} does not exist, so neither does {given}", path=given, missing=path)
        for parent in names[:-1]:
            refuse_new_name(self.host, parent)
        return Place(root, here, names[-1], os.path.join(here.path, *names), None, self.host, tuple(names[:-1]))

    def _follow(self, name: str, pending: list[str], given: str) -> None:
        _, here = self.stack[-1]
        self.links += 1
        if self.links > MAX_LINKS:
            raise LinkLoop(f"{given} leads through more than {MAX_LINKS} links", path=given)
        try:
            target = here.read_link(name)
        except OSError as error:
            raise from_os(error, given) from error
        if absolute := self._absolute_target(target, here):
            root, parts = self._root_of_link(absolute, given)
            self._enter_root(root)
        else:
            parts = tuple(re.split(r"[/\\]" if self.host.name == "windows" else "/", target))
        pending.extend(reversed(parts))

    def _absolute_target(self, target: str, here: Directory) -> str | None:
        """Where an absolute link leads; None for one that leads on from where it stands."""
        if self.host.name != "windows":
            return target if target.startswith("/") else None
        # One slash is the top of the link's own drive; a drive without a slash is refused by the host.
        is_absolute = target.startswith(("\\", "/")) or target[1:2] == ":"
        return self.host.absolute(target, here.path) if is_absolute else None

    def _root_of_link(self, target: str, given: str) -> tuple[Root, tuple[str, ...]]:
        try:
            return self.containment.root_of_link(target)
        except OutsideRoot:
            raise OutsideRoot(
                f"{given} leads through a link to {target}, outside the roots",
                path=given,
                target=target,
                roots=[root.path for root in self.containment.roots],
            ) from None

    def _leave(self, given: str) -> None:
        if len(self.stack) == 1:
            raise OutsideRoot(f"{given} leads through a link above its root", path=given)
        self.stack.pop()[1].close()

    def _place(self, name: str, entry: Entry | None) -> Place:
        root, here = self.stack[-1]
        if name == ".":
            with translated(here.path):
                entry = here.entry(".")
            return Place(root, here, ".", here.path, entry, self.host)
        if entry is not None and entry.kind is Kind.DIRECTORY:
            self._refuse_private(here, name, root)
        return Place(root, here, name, os.path.join(here.path, name), entry, self.host)

    def _refuse_private(self, here: Directory, name: str, root: Root) -> None:
        """A private directory, or a root of its own, named as the last component."""
        try:
            directory = here.open_directory(name)
        except OSError:
            return  # unreadable or just replaced; whoever opens it finds out
        try:
            self.containment.owner_of(directory, root)
        finally:
            directory.close()

    def _close(self) -> None:
        while self.stack:
            self.stack.pop()[1].close()
