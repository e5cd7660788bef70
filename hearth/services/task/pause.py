"""Pausing groups: what runs goes on, nothing new starts."""

from __future__ import annotations

from typing import Annotated

from hearth.errors import invalid
from hearth.model import Cli, Help, Items, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task.groups import GroupEntry, entry, wake
from hearth.services.task.job_input import Name
from hearth.services.task.names import refuse_secrets
from hearth.store import job_groups

MOST_GROUPS = 10_000


@model
class PauseGroups:
    groups: Annotated[
        tuple[Name, ...],
        Cli(argument=True, completes="group", metavar="GROUP"),
        Len(0, 1_000),
        Help("The groups; one without jobs can be paused ahead."),
    ] = ()
    all: Annotated[bool, Help("Every group that there is now.")] = False


@model
class ResumeGroups:
    groups: Annotated[
        tuple[Name, ...],
        Cli(argument=True, completes="group", metavar="GROUP"),
        Len(0, 1_000),
        Help("The groups."),
    ] = ()
    all: Annotated[bool, Help("Every group that is paused.")] = False


@model
class GroupsChanged:
    state: State = State.COMPLETED
    groups: Annotated[
        tuple[GroupEntry, ...],
        Items(columns=("name", "parallel", "paused", "queued", "running")),
        Help("The groups as they are now."),
    ]


def pause(runtime: Runtime, given: PauseGroups) -> GroupsChanged:
    """Let none of their jobs start until they are resumed. Raises `InvalidInput`, `SecretRefused`."""
    return _change(runtime, given, paused=True)


def resume(runtime: Runtime, given: ResumeGroups) -> GroupsChanged:
    """Let their jobs start again. Raises `InvalidInput`, `SecretRefused`."""
    changed = _change(runtime, given, paused=False)
    wake(runtime, list(changed.groups))
    return changed


def _change(runtime: Runtime, given: PauseGroups | ResumeGroups, *, paused: bool) -> GroupsChanged:
    if bool(given.groups) is given.all:
        raise invalid("groups", "not_one_of", "name groups, or say all")
    refuse_secrets(groups=" ".join(given.groups))
    with runtime.store.write() as tx:
        known = job_groups.groups(tx, most=MOST_GROUPS) if given.all else []
        names = [each.name for each in known if each.paused is not paused] or list(dict.fromkeys(given.groups))
        for name in names:
            job_groups.set_group(tx, name, paused=paused)
        return GroupsChanged(groups=tuple(entry(runtime, tx, name) for name in names))
