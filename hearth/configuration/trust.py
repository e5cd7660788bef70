"""Which project files their owner trusts: path and content, so that a changed file must be trusted again."""

from __future__ import annotations

import json
import os
from typing import Any

from hearth.configuration.load import user_directory
from hearth.configuration.write import locked, replace_file
from hearth.platforms.base import Host

RECORD = "trusted.json"


def is_trusted(host: Host, path: str, content: bytes) -> bool:
    """Whether this very content was trusted under this path."""
    known = _records(host).get(host.real_path(path))
    return known is not None and known == digest(content)


def trust(host: Host, path: str, content: bytes) -> None:
    """Remember path and hash; an earlier hash of the same path is forgotten."""
    with locked(host):
        remember(host, path, content)


def remember(host: Host, path: str, content: bytes) -> None:
    """`trust`, for who holds the lock already."""
    _write(host, {**_records(host), host.real_path(path): digest(content)})


def revoke(host: Host, path: str) -> bool:
    """Forget a path; whether it was known."""
    with locked(host):
        known = _records(host)
        found = known.pop(host.real_path(path), None)
        if found is not None:
            _write(host, known)
    return found is not None


def note_made_here(host: Host, directory: str) -> None:
    """Remember a project's data directory that hearth makes."""
    with locked(host):
        known = _read(host)
        made = {*known["directories"], host.real_path(directory)}
        _write(host, known["files"], sorted(made))


def is_made_here(host: Host, directory: str) -> bool:
    """Whether hearth made that directory, rather than its having come with a project."""
    return host.real_path(directory) in _read(host)["directories"]


def digest(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()


def _records(host: Host) -> dict[str, str]:
    files: dict[str, str] = _read(host)["files"]
    return files


def _read(host: Host) -> dict[str, Any]:
    try:
        with open(os.path.join(user_directory(host), RECORD), encoding="utf-8") as file:
            found: Any = json.load(file)
    except (OSError, ValueError):
        found = None  # none, or damaged: nothing is trusted then
    found = found if isinstance(found, dict) else {}
    files, directories = found.get("files"), found.get("directories")
    return {
        "files": files if isinstance(files, dict) else {},
        "directories": directories if isinstance(directories, list) else [],
    }


def _write(host: Host, files: dict[str, str], directories: list[str] | None = None) -> None:
    directories = _read(host)["directories"] if directories is None else directories
    text = json.dumps({"version": 1, "files": files, "directories": directories}, indent=2)
    replace_file(host, os.path.join(user_directory(host), RECORD), text.encode("utf-8"), private=True)
