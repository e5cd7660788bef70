"""Changing a settings file: comments and order stay, and a file that was trusted stays trusted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hearth.configuration import keys, read, trust
from hearth.configuration.load import FILE_NAME, Configuration, Source, load, place
from hearth.configuration.narrow import is_below
from hearth.configuration.write import locked, replace_file
from hearth.errors import SettingError, invalid
from hearth.settings import RootSetting

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

BOM = b"\xef\xbb\xbf"


def target(config: Configuration, *, user: bool, project: bool) -> Source:
    """The file that a change goes to: `--config FILE`, else the nearest project's, else the user's; or the one that
    was asked for, a new `hearth.toml` in the current directory where no project has one. Raises `InvalidInput`."""
    if user and project:
        raise invalid("project", "conflicting", "takes no --user beside it")
    found = config.source("project") or config.source("user")
    if config.flags.config:
        found = config.source("config")
    elif user:
        found = config.source("user")
    elif project and config.source("project") is None:
        found = Source("project", os.path.join(config.here, FILE_NAME), exists=False)
    assert found is not None
    if found.path.lower().endswith(".json"):
        raise invalid("config", "not_toml", f"{found.path} is JSON; only TOML files are changed")
    return found


def put(config: Configuration, file: Source, key: str, value: Any) -> None:
    """Write one checked value, as TOML spells it. Raises `SettingError` and what the system refuses."""

    def change(document: TOMLDocument) -> None:
        holder, name = _holder(document, key, make=True)
        holder[name] = _toml(value)

    _edit(config, file, change)


def remove(config: Configuration, file: Source, key: str) -> bool:
    """Take a key out; whether it stood there."""
    found = False

    def change(document: TOMLDocument) -> None:
        nonlocal found
        holder, name = _holder(document, key, make=False)
        found = name in holder
        if found:
            del holder[name]

    if os.path.exists(file.path):
        _edit(config, file, change)
    return found


def reload(config: Configuration) -> Configuration:
    """The configuration as the next process will see it."""
    return load(config.host, config.environ, config.here, config.flags)


def spelled(config: Configuration, file: Source, path: str) -> str:
    """A directory, given as the shell sees it, as the file should name it: relative where it lies below a project's
    file, so that a clone works elsewhere too."""
    absolute = place(config.host, path, config.here)
    directory = os.path.dirname(file.path)
    if file.layer == "project" and is_below(config.host, absolute, directory):
        return os.path.relpath(absolute, directory).replace(os.sep, "/")
    return absolute


def own_roots(file: Source) -> tuple[RootSetting, ...] | None:
    """The roots that a file itself names, as it spells them; None where it names none. Raises `SettingError`."""
    if not os.path.exists(file.path):
        return None
    with read.named(file.path):
        found = dict(keys.flat(read.table(file.path, read.content(file.path)))).get("roots")
    if found is None:
        return None
    if flaw := keys.check("roots", found):
        raise SettingError(f"{file.path}: roots {flaw.message}", reason=flaw.code)
    roots: tuple[RootSetting, ...] = keys.typed("roots", found)
    return roots


def _edit(config: Configuration, file: Source, change: Callable[[TOMLDocument], None]) -> None:
    import tomlkit

    with locked(config.host):
        with read.named(file.path):
            old = read.content(file.path) if os.path.exists(file.path) else b""
        trusted = file.layer == "project" and (not old or trust.is_trusted(config.host, file.path, old))
        table = _parsed(file.path, old)
        change(table)
        new = _bytes(tomlkit.dumps(table), old)
        _parsed(file.path, new)
        if file.layer == "user":
            config.host.make_private_directory(os.path.dirname(file.path))
        replace_file(config.host, file.path, new, private=file.layer == "user")
        if trusted:
            trust.remember(config.host, file.path, new)


def _parsed(path: str, content: bytes) -> TOMLDocument:
    import tomlkit

    with read.named(path):
        read.table(path, content)
    return tomlkit.parse(content.decode("utf-8-sig").replace("\r\n", "\n"))


def _bytes(text: str, old: bytes) -> bytes:
    if b"\r\n" in old:
        text = text.replace("\n", "\r\n")
    return (BOM if old.startswith(BOM) else b"") + text.encode("utf-8")


def _holder(document: Any, key: str, *, make: bool) -> tuple[Any, str]:
    import tomlkit

    *tables, name = key.split(".")
    for table in tables:
        if table not in document:
            if not make:
                return {}, name
            document[table] = tomlkit.table()
        document = document[table]
        if not isinstance(document, dict):
            raise SettingError(f"{table} must be a table before {key} can be changed", reason="wrong_type")
    return document, name


def _toml(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    made = tomlkit.array()
    for item in value:
        made.append(_inline(item) if isinstance(item, dict) else item)
    return made.multiline(len(value) > 1)


def _inline(item: dict[str, Any]) -> Any:
    import tomlkit

    made = tomlkit.inline_table()
    made.update(item)
    return made
