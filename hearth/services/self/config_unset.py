"""Take a setting out of a file."""

from __future__ import annotations

from typing import Annotated

from hearth.configuration import edit
from hearth.errors import NotFound
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Runtime
from hearth.services.self.configured import SettingChanged, changed, configuration


@model
class UnsetSetting:
    key: Annotated[
        str, Len(1, 200), Cli(argument=True, completes="setting"), Help("A key, such as fs.sync; a wrong one is fine.")
    ]
    user: Annotated[bool, Help("Change the user's file, not the nearest project's.")] = False
    project: Annotated[bool, Help("Change the project's file.")] = False


def unset(runtime: Runtime, given: UnsetSetting) -> SettingChanged:
    """Raises `NotFound` where the file does not set it, `SettingError`, `Locked` and what the system refuses."""
    config = configuration(runtime)
    file = edit.target(config, user=given.user, project=given.project)
    if not edit.remove(config, file, given.key):
        raise NotFound(f"{file.path} does not set {given.key}", hint="`hearth config show --origin` says what does")
    return changed(edit.reload(config), file, given.key, meant=False)
