"""Locks that processes with one data directory share: one of 256 files for every name that is about to change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from hearth.platforms.base import Identity
    from hearth.runtime import Runtime

STRIPES = 256


def stripe(parent: Identity, name: str) -> int:
    """The stripe of a name in a directory; spellings that differ by case or normal form share one."""
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFKC", name)
    key = f"{parent.device}:{parent.file}:{name.casefold()}"
    return crc32(key.encode("utf-8", "surrogatepass")) % STRIPES


@contextmanager
def hold(runtime: Runtime, stripes: Iterable[int]) -> Iterator[None]:
    """Hold the stripes, taken in order so that two calls never wait for each other. Raises `Locked`."""
    folder = os.path.join(runtime.data_dir, "locks")
    if not os.path.isdir(folder):
        runtime.host.make_private_directory(folder)
    timeout_ms = runtime.settings.fs.lock_timeout_ms
    with ExitStack() as held:
        for number in sorted(set(stripes)):
            held.enter_context(runtime.host.lock(os.path.join(folder, f"{number:02x}"), timeout_ms))
        yield
