"""What stands under a path."""

from __future__ import annotations

from typing import Annotated

from hearth.clock import timestamp_ns
from hearth.containment import Place
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime

MAX_PATH = 32_767


@model
class StatPath:
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A file or directory.")
    ]
    follow: Annotated[bool, Help("Follow a link at the end of the path.")] = True


@model
class PathStatus:
    """What a path is. Sizes in bytes, times in UTC."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path.")]
    kind: Annotated[Kind, Help("What stands there.")]
    size: Annotated[int, Help("Bytes.")]
    modified_at: Annotated[str, Help("When the content last changed.")]
    mode: Annotated[str, Help("Permission bits, octal.")]
    links: Annotated[int, Help("How many names the file has.")]


def stat(runtime: Runtime, given: StatPath) -> PathStatus:
    """Raises `NotFound`, `OutsideRoot`."""
    with runtime.containment.locate(given.path, follow=given.follow) as place:
        return _status(place)


def _status(place: Place) -> PathStatus:
    found = place.found
    return PathStatus(
        path=place.path,
        kind=found.kind,
        size=found.size,
        modified_at=timestamp_ns(found.modified_ns),
        mode=f"{found.mode:04o}",
        links=found.links,
    )
