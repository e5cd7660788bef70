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


def digest(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()


def _records(host: Host) -> dict[str, str]:
    try:
        with open(os.path.join(user_directory(host), RECORD), encoding="utf-8") as file:
            found: Any = json.load(file)
    except (OSError, ValueError):
        return {}  # none, or damaged: nothing is trusted then
    files = found.get("files") if isinstance(found, dict) else None
    return files if isinstance(files, dict) else {}


def _write(host: Host, files: dict[str, str]) -> None:
    text = json.dumps({"version": 1, "files": files}, indent=2)
    replace_file(host, os.path.join(user_directory(host), RECORD), text.encode("utf-8"), private=True)
