"""What paths of whole trees mean, and which trees must stay where they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hearth.errors import HoldsRoot
from hearth.platforms.base import Kind

if TYPE_CHECKING:
    from hearth.containment import Place
    from hearth.runtime import Runtime


def into(to: str, path: str, runtime: Runtime) -> str:
    """The new path: `to`, or the old name in the directory `to` when that ends with a separator."""
    if not to.endswith(("/", os.sep)):
        return to
    return os.path.join(to, os.path.basename(runtime.containment.absolute(path)))


def refuse_holding_roots(runtime: Runtime, place: Place) -> None:
    """Raise `HoldsRoot` for a directory that a root or hearth's own data lies in."""
    if place.entry is None or place.entry.kind is not Kind.DIRECTORY:
        return
    host = runtime.host
    anchor, parts = host.parts(host.real_path(place.path))
    for kept in (runtime.data_dir, *(root.path for root in runtime.roots)):
        other_anchor, other = host.parts(host.real_path(kept))
        if host.same_name(anchor, other_anchor) and len(other) >= len(parts) and all(map(host.same_name, parts, other)):
            raise HoldsRoot(f"{place.path} holds {kept}, which hearth needs where it is", path=place.path, holds=kept)
