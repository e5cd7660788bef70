"""Settings files: TOML, or JSON where the name says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hearth.errors import SettingError

MAX_BYTES = 1024 * 1024


@contextmanager
def named(path: str) -> Iterator[None]:
    """Put the file's name before what is wrong with it."""
    try:
        yield
    except SettingError as error:
        raise SettingError(f"{path} {error.message}", **error.details) from None


def content(path: str) -> bytes:
    """The bytes of a settings file, at most 1 MiB. Raises `SettingError`, without the file's name."""
    try:
        # A name found upwards may be anything: a FIFO must not be waited for.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SettingError("is no regular file", reason="not_regular")
        with open(path, "rb") as file:
            found = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingError(f"cannot be read: {error.strerror}", reason="not_readable") from None
    if len(found) > MAX_BYTES:
        raise SettingError("is larger than 1 MiB", reason="too_large")
    return found


def table(path: str, found: bytes) -> dict[str, Any]:
    """What the file says. Raises `SettingError`, without the file's name."""
    try:
        text = found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingError("is not UTF-8; save it as UTF-8", reason="wrong_encoding") from None
    return _from_json(text) if path.lower().endswith(".json") else _from_toml(text)


def _from_toml(text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError(f"is not TOML: {error}", reason="not_toml") from None


def _from_json(text: str) -> dict[str, Any]:
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"is not JSON: {error}", reason="not_json") from None
    if not isinstance(found, dict):
        raise SettingError("must hold one JSON object", reason="not_json")
    return found
