"""This machine's host, and a directory of it that is open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.platforms.base import Directory, Host
from hearth.platforms.local import local_host
from hearth.platforms.processes import Launcher


@pytest.fixture(scope="session")
def host() -> Host:
    return local_host()


@pytest.fixture(scope="session")
def launcher(host: Host) -> Iterator[Launcher]:
    made = host.make_launcher()
    yield made
    made.close()


@pytest.fixture
def here(host: Host, work: Path) -> Iterator[Directory]:
    """The folder `work`, open."""
    directory = host.open_root(str(work))
    yield directory
    directory.close()


def put(directory: Directory, name: str, content: bytes = b"") -> None:
    descriptor = directory.create_file(name)
    os.write(descriptor, content)
    os.close(descriptor)


def get(directory: Directory, name: str) -> bytes:
    with open(directory.open_file(name), "rb") as file:
        return file.read()
