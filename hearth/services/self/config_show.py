"""Every setting and its value."""

from __future__ import annotations

from typing import Annotated, Any

from hearth.configuration import keys
from hearth.configuration.load import Configuration
from hearth.model import Help, Hidden, Items, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration, origin_of, text_of, value_of


@model
class ShowSettings:
    origin: Annotated[bool, Help("Say where each value stands.")] = False


@model
class SettingRow:
    key: Annotated[str, Help("The setting.")]
    value: Annotated[Any, Hidden(), Help("Its value.")]
    text: Annotated[str, Help("The value as a word of `config set`.")]
    origin: Annotated[str | None, Help("A file, a variable, a flag, or `default`.")]


@model
class SettingList:
    """The settings in force."""

    state: State = State.COMPLETED
    settings: Annotated[tuple[SettingRow, ...], Items(columns=("key", "text", "origin")), Help("One row a setting.")]


def show(runtime: Runtime, given: ShowSettings) -> SettingList:
    """Never fails; what is wrong is said beside the result, and has a result of its own in `config check`."""
    config = configuration(runtime)
    for problem in config.problems:
        runtime.notice(f"hearth: left out: {problem}")
    return SettingList(settings=tuple(_row(config, key, with_origin=given.origin) for key in keys.fields()))


def _row(config: Configuration, key: str, *, with_origin: bool) -> SettingRow:
    value = value_of(config, key)
    origin = origin_of(config, key) if with_origin else None
    return SettingRow(key=key, value=value, text=text_of(value), origin=origin)
