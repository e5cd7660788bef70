"""The directories below which hearth may act: list, add, remove."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any

from hearth.configuration import edit
from hearth.configuration.load import Configuration, Flags, Source, load, place
from hearth.containment import Root
from hearth.errors import MissingRoot, NotFound, SettingError, invalid
from hearth.model import Help, Items, Len, PathName, State, model
from hearth.roots import implied_roots, resolve
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration, why_not
from hearth.settings import RootSetting

Paths = tuple[Annotated[str, Len(1, 32_767)], ...]


@model
class ChangeRoots:
    add: Annotated[Paths, Len(0, 64), Help("Directories to add.")] = ()
    remove: Annotated[Paths, Len(0, 64), Help("Roots to take away; the directories stay.")] = ()
    read_only: Annotated[bool, Help("What is added may only be read.")] = False
    user: Annotated[bool, Help("Change the user's file, not the nearest project's.")] = False
    project: Annotated[bool, Help("Change the project's file; it is made here where there is none.")] = False


@model
class RootRow:
    path: Annotated[str, PathName(), Help("The directory as it was named.")]
    real_path: Annotated[str, PathName(), Help("The directory as the system resolves it; both are accepted.")]
    read_only: Annotated[bool, Help("Whether hearth may only read below it.")]
    exists: Annotated[bool, Help("Whether it can be opened.")]


@model
class RootList:
    """The roots in force."""

    state: State = State.COMPLETED
    roots: Annotated[
        tuple[RootRow, ...], Items(columns=("path", "read_only", "exists", "real_path")), Help("One row a root.")
    ]
    origin: Annotated[str, Help("Where they stand; `default` is the current directory.")]
    path: Annotated[str | None, Help("The file that was changed.")] = None


def change(runtime: Runtime, given: ChangeRoots) -> RootList:
    """Raises `MissingRoot` for a directory that cannot be opened, `NotFound` for a root that is none, `SettingError`,
    `InvalidInput`, `Locked`."""
    config = configuration(runtime)
    if given.read_only and not given.add:
        raise invalid("read_only", "conflicting", "says how --add adds; name a directory with it")
    if not given.add and not given.remove:
        return _listed(runtime, config, runtime.roots)
    file = edit.target(config, user=given.user, project=given.project)
    kept = _without(config, file, _named(config, file), given.remove)
    roots = [*kept, *_added(config, file, given)]
    _write(config, file, roots)
    now = edit.reload(config)
    if note := why_not(now, file, "roots") if roots else None:
        runtime.notice(f"hearth: the change is not in force: {note}")
    elif given.add and not config.settings.roots:
        runtime.notice("hearth: the current directory is no longer a root by itself; `--add .` makes it one")
    effective = resolve(now.settings.roots) or implied_roots(config.host, config.here, runtime.caller)
    return _listed(runtime, now, effective, file.path)


def _named(config: Configuration, file: Source) -> tuple[RootSetting, ...]:
    """The roots to start from: the file's own, else those that the other files give and this one would replace."""
    try:
        own = edit.own_roots(file)
    except SettingError as error:
        raise SettingError(f"{file.path} {error.message}", **error.details) from None
    if own is not None:
        return own
    files_only = load(config.host, {}, config.here, Flags(config=config.flags.config))
    return files_only.settings.roots


def _without(
    config: Configuration, file: Source, roots: Iterable[RootSetting], removed: Iterable[str]
) -> list[RootSetting]:
    kept = list(roots)
    for path in removed:
        wanted = config.host.real_path(place(config.host, path, config.here))
        left = [root for root in kept if config.host.real_path(_absolute(config, file, root.path)) != wanted]
        if len(left) == len(kept):
            raise NotFound(f"{path} is no root in {file.path}", hint="`hearth config roots` lists the roots", path=path)
        kept = left
    return kept


def _absolute(config: Configuration, file: Source, path: str) -> str:
    return place(config.host, path, os.path.dirname(file.path))


def _added(config: Configuration, file: Source, given: ChangeRoots) -> list[RootSetting]:
    made = []
    for path in given.add:
        absolute = place(config.host, path, config.here)
        if not _opens(config, absolute):
            raise MissingRoot(f"{absolute} is no directory that can be opened", hint="make it first", root=absolute)
        made.append(RootSetting(path=edit.spelled(config, file, path), read_only=given.read_only))
    return made


def _write(config: Configuration, file: Source, roots: list[RootSetting]) -> None:
    if not roots:
        edit.remove(config, file, "roots")
        return
    # The last word on a directory wins, so that `--add X --read-only` changes what X was.
    by_path = {config.host.real_path(_absolute(config, file, root.path)): root for root in roots}
    edit.put(config, file, "roots", [_table(root) for root in by_path.values()])


def _table(root: RootSetting) -> dict[str, Any]:
    return {"path": root.path, **({"read_only": True} if root.read_only else {})}


def _opens(config: Configuration, path: str) -> bool:
    try:
        config.host.open_root(path).close()
    except OSError:
        return False
    return True


def _listed(runtime: Runtime, config: Configuration, roots: Iterable[Root], changed: str | None = None) -> RootList:
    return RootList(
        roots=tuple(
            RootRow(
                path=root.path,
                real_path=runtime.host.real_path(root.path),
                read_only=root.read_only,
                exists=_opens(config, root.path),
            )
            for root in roots
        ),
        origin=config.origins.get("roots", "default"),
        path=changed,
    )
