"""What stands under a path."""

from __future__ import annotations

import os
from typing import Annotated

from hearth.clock import timestamp_ns
from hearth.containment import Place, translated
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.platforms.base import Entry, Kind
from hearth.runtime import Runtime

MAX_PATH = 32_767

# FILE_ATTRIBUTE_* of https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants
_ATTRIBUTES = {
    0x1: "read_only",
    0x2: "hidden",
    0x4: "system",
    0x20: "archive",
    0x100: "temporary",
    0x200: "sparse",
    0x400: "reparse_point",
    0x800: "compressed",
    0x1000: "offline",
    0x2000: "not_indexed",
    0x4000: "encrypted",
}


@model
class StatPath:
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A file or directory.")
    ]
    follow: Annotated[bool, Help("Follow a link at the end of the path.")] = True
    sha256: Annotated[bool, Help("Hash the whole content too.")] = False


@model
class PathStatus:
    """What a path is. Sizes in bytes, times in UTC."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path.")]
    kind: Annotated[Kind, Help("What stands there.")]
    size: Annotated[int, Help("Bytes.")]
    modified_at: Annotated[str, Help("When the content last changed.")]
    accessed_at: Annotated[str, Help("When it was last read, as far as the system keeps track.")]
    changed_at: Annotated[str, Help("When content or status last changed.")]
    created_at: Annotated[str | None, Help("Where the file system tells.")] = None
    mode: Annotated[str, Help("Permission bits, octal.")]
    owner: Annotated[int, Help("User id; 0 on Windows.")]
    owner_name: Annotated[str | None, Help("The user's name, where the system knows it.")] = None
    group: Annotated[int, Help("Group id; 0 on Windows.")]
    group_name: Annotated[str | None, Help("The group's name, where the system knows it.")] = None
    links: Annotated[int, Help("How many names the file has.")]
    attributes: Annotated[tuple[str, ...], Help("What Windows says beside the mode.")] = ()
    target: Annotated[str | None, PathName(), Help("What the link holds.")] = None
    mime: Annotated[str | None, Help("What the name says about the content.")] = None
    sha256: Annotated[str | None, Help("Of the whole content, when it was asked for.")] = None
    root: Annotated[str, PathName(), Help("The root that the path lies under.")]
    read_only: Annotated[bool, Help("Whether that root may only be read.")]


def stat(runtime: Runtime, given: StatPath) -> PathStatus:
    """Raises `NotFound`, `OutsideRoot`; with `sha256` also what refuses the file's content."""
    with runtime.containment.locate(given.path, follow=given.follow) as place:
        found = place.found
        digest = None
        if given.sha256 and found.kind not in (Kind.DIRECTORY, Kind.LINK):
            digest, found = _digest(runtime, place)
        return _status(place, found, digest)


def _digest(runtime: Runtime, place: Place) -> tuple[str, Entry]:
    from hearth.content.digest import sha256_of

    descriptor = place.open_file()
    try:
        with translated(place.path):
            found = place.host.entry_of(descriptor, place.name)
            return sha256_of(descriptor, runtime.cancelled)[0], found
    finally:
        os.close(descriptor)


def _status(place: Place, found: Entry, digest: str | None) -> PathStatus:
    from hearth.content.mime import guess
    from hearth.platforms.owners import owner_names

    owner, group = owner_names(found)
    return PathStatus(
        path=place.path,
        kind=found.kind,
        size=found.size,
        modified_at=timestamp_ns(found.modified_ns),
        accessed_at=timestamp_ns(found.accessed_ns),
        changed_at=timestamp_ns(found.changed_ns),
        created_at=None if found.created_ns is None else timestamp_ns(found.created_ns),
        mode=f"{found.mode:04o}",
        owner=found.owner,
        owner_name=owner,
        group=found.group,
        group_name=group,
        links=found.links,
        attributes=tuple(name for bit, name in _ATTRIBUTES.items() if found.attributes & bit),
        target=_target(place, found),
        mime=guess(found.name) if found.kind is Kind.FILE else None,
        sha256=digest,
        root=place.root.path,
        read_only=place.root.read_only,
    )


def _target(place: Place, found: Entry) -> str | None:
    if found.kind is not Kind.LINK:
        return None
    with translated(place.path):
        return place.directory.read_link(place.name)
