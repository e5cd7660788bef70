"""Set a setting in a file."""

from __future__ import annotations

from typing import Annotated, Any

from hearth.configuration import edit, keys
from hearth.configuration.load import Configuration, Source
from hearth.errors import SettingError
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Runtime
from hearth.services.self.configured import SettingChanged, changed, configuration, known


@model
class SetSetting:
    key: Annotated[str, Len(1, 200), Cli(argument=True, completes="setting"), Help("A key, such as fs.sync.")]
    value: Annotated[str, Len(0, 32_768), Cli(argument=True), Help("Its value; a list as JSON.")]
    user: Annotated[bool, Help("Write the user's file, not the nearest project's.")] = False
    project: Annotated[bool, Help("Write the project's file; it is made here where there is none.")] = False


def set_value(runtime: Runtime, given: SetSetting) -> SettingChanged:
    """Raises `SettingError`, `InvalidInput`, `Locked` and what the system refuses."""
    config = configuration(runtime)
    file = edit.target(config, user=given.user, project=given.project)
    key = known(given.key)
    value = keys.from_word(key, given.value)
    if flaw := keys.check(key, value):
        raise SettingError(f"{key} {flaw.message}", reason=flaw.code)
    edit.put(config, file, key, _spelled(config, file, key, value))
    return changed(edit.reload(config), file, key)


def _spelled(config: Configuration, file: Source, key: str, value: Any) -> Any:
    """Paths were given as the shell sees them; the file may lie elsewhere."""
    if key == "data_dir":
        return edit.spelled(config, file, value)
    if key != "roots":
        return value
    items = [{"path": item} if isinstance(item, str) else item for item in value]
    return [{**item, "path": edit.spelled(config, file, item["path"])} for item in items]
