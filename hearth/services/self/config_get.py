"""One setting's value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from hearth.model import Cli, Help, Len, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import complain, configuration, known, origin_of, text_of, value_of


@model
class GetSetting:
    key: Annotated[str, Len(1, 200), Cli(argument=True, completes="setting"), Help("A key, such as fs.sync.")]


@model
class SettingValue:
    """A setting in force."""

    state: State = State.COMPLETED
    key: Annotated[str, Help("The setting.")]
    value: Annotated[Any, Help("Its value.")]
    origin: Annotated[str, Help("A file, a variable, a flag, or `default`.")]


def get(runtime: Runtime, given: GetSetting) -> SettingValue:
    """Raises `SettingError` for a key that does not exist, or whose value is wrong somewhere."""
    config = configuration(runtime)
    key = known(given.key)
    complain(config, key)
    return SettingValue(key=key, value=value_of(config, key), origin=origin_of(config, key))


def stream(runtime: Runtime, given: GetSetting) -> Iterator[bytes]:
    """The bare value, for `$(hearth config get KEY)`."""
    yield text_of(get(runtime, given).value).encode("utf-8", "surrogateescape") + b"\n"
