"""What an untrusted project file may say: less than what holds without it, never more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hearth.configuration.load import Configuration
from hearth.fields import Field
from hearth.platforms.base import Host
from hearth.settings import Narrows, RootSetting


def narrowed(made: Configuration, field: Field, current: Any, new: Any) -> Any:
    """The value to take over from an untrusted file, or None where it needs trust."""
    rule = field.find(Narrows)
    if rule is Narrows.SMALLER and new <= current:
        return new
    if rule is Narrows.ON and new is True:
        return new
    if rule is Narrows.BELOW:
        # Without roots the current directory is the root, so a project may only lead below it.
        return _below(made.host, current or (RootSetting(path=made.here),), new)
    return None


def _below(host: Host, current: Sequence[RootSetting], new: Sequence[RootSetting]) -> tuple[RootSetting, ...] | None:
    kept = []
    for root in new:
        # By real paths, which the root then is, so that no link of the project leads out of what the user allowed.
        real = RootSetting(path=host.real_path(root.path), read_only=root.read_only)
        above = [each for each in current if is_below(host, real.path, host.real_path(each.path))]
        if not above or (not real.read_only and all(each.read_only for each in above)):
            return None
        kept.append(real)
    return tuple(kept) or None


def is_below(host: Host, path: str, root: str) -> bool:
    """Whether a path is a root or lies below it, by spelling."""
    anchor, parts = host.parts(path)
    root_anchor, root_parts = host.parts(root)
    return (
        host.same_name(anchor, root_anchor)
        and len(parts) >= len(root_parts)
        and all(map(host.same_name, parts, root_parts))
    )
