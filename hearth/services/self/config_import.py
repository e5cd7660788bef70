"""Take over the settings of hearth v0."""

from __future__ import annotations

from typing import Annotated

from hearth.configuration import edit, read
from hearth.configuration.v0 import convert
from hearth.model import Cli, Help, Items, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration, why_not


@model
class ImportSettings:
    path: Annotated[
        str, Len(1, 32_767), PathName(), Cli(argument=True, completes="path"), Help("The config.json of hearth v0.")
    ]
    user: Annotated[bool, Help("Write the user's file, not the nearest project's.")] = False
    project: Annotated[bool, Help("Write the project's file; it is made here where there is none.")] = False


@model
class ImportedSetting:
    key: Annotated[str, Help("The key in v0's file.")]
    imported: Annotated[bool, Help("Whether it was taken over.")]
    reason: Annotated[str | None, Help("Why not, or why it is not in force.")]


@model
class SettingsImported:
    """`partial` when some keys were left."""

    state: State = State.COMPLETED
    path: Annotated[str, Help("The file that was written.")]
    settings: Annotated[
        tuple[ImportedSetting, ...], Items(columns=("key", "imported", "reason")), Help("One row a key.")
    ]


def import_settings(runtime: Runtime, given: ImportSettings) -> SettingsImported:
    """Raises `SettingError` for a file that is no JSON, `InvalidInput`, `Locked` and what the system refuses."""
    config = configuration(runtime)
    source = config.host.absolute(given.path, config.here)
    file = edit.target(config, user=given.user, project=given.project)
    with read.named(source):
        found = convert(config, source, read.table(".json", read.content(source)))
    for key, value in found.taken.items():
        edit.put(config, file, key, value)
    now = edit.reload(config)
    rows = [ImportedSetting(key=key, imported=True, reason=why_not(now, file, key)) for key in found.taken]
    rows += [ImportedSetting(key=key, imported=False, reason=reason) for key, reason in found.left.items()]
    return SettingsImported(
        state=State.PARTIAL if found.left else State.COMPLETED, path=file.path, settings=tuple(rows)
    )
