"""The configuration that the `config` operations act on, and what they share."""

from __future__ import annotations

from typing import Annotated, Any

from hearth.configuration import keys
from hearth.configuration.load import Configuration, Flags, Source, load
from hearth.errors import SettingError
from hearth.model import Help, Hidden, State, model
from hearth.runtime import Runtime


def configuration(runtime: Runtime) -> Configuration:
    """How this process's settings came about."""
    return runtime.config or load(runtime.host, {}, runtime.base, Flags(data_dir=runtime.data_dir))


def known(key: str) -> str:
    """The key, when it is one. Raises `SettingError`, with the one that was probably meant."""
    if key not in keys.fields():
        raise SettingError(f"{key} {keys.unknown(key).message}", reason="unknown_key")
    return key


def value_of(config: Configuration, key: str) -> Any:
    """The value in force, as JSON has it; None for a key that does not exist."""
    if key == "data_dir":
        return config.data_dir
    if key not in keys.fields():
        return None
    value = keys.value_of(config.settings, key)
    if key == "roots":
        return [{"path": root.path, "read_only": root.read_only} for root in value]
    return value


def complain(config: Configuration, key: str) -> None:
    """Raises `SettingError` where a layer's value of the key, or all of a file, cannot be used: what is in force then
    is not what somebody set."""
    wrong = [problem for problem in config.problems if problem.key in (key, "")]
    if wrong:
        raise SettingError("; ".join(map(str, wrong)), problems=[problem._asdict() for problem in wrong])


def text_of(value: Any) -> str:
    """A value as `config set` takes it; empty for none."""
    import json

    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def origin_of(config: Configuration, key: str) -> str:
    """Where the value in force stands: a file, a variable, a flag, or `default`."""
    return config.origins.get(key, config.data_dir_origin if key == "data_dir" else "default")


@model
class SettingChanged:
    """What became of a setting."""

    state: State = State.COMPLETED
    key: Annotated[str, Help("The setting.")]
    path: Annotated[str, Help("The file that was changed.")]
    value: Annotated[Any, Hidden(), Help("The value that is in force now.")]
    text: Annotated[str, Help("That value as a word of `config set`.")]
    origin: Annotated[str, Help("Where that value stands.")]
    note: Annotated[str | None, Help("Why the file does not decide it, when another place does.")] = None


def changed(config: Configuration, file: Source, key: str, *, meant: bool = True) -> SettingChanged:
    """The outcome of a change, as the next process sees it. `meant`: the file was to decide the value."""
    return SettingChanged(
        key=key,
        path=file.path,
        value=value_of(config, key),
        text=text_of(value_of(config, key)),
        origin=origin_of(config, key),
        note=why_not(config, file, key) if meant else None,
    )


def why_not(config: Configuration, file: Source, key: str) -> str | None:
    """Why a file's own value of a key is not in force, if it is not."""
    if (file.path, key) in config.ignored:
        return f"{file.path} is not trusted; read it, then run `hearth config trust`"
    origin = origin_of(config, key)
    return None if origin == file.path else f"{origin} goes before this file"
