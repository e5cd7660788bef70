"""Being told that files of a folder grow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hearth.platforms.base import Host
from hearth.platforms.folder_watch import FolderWatch

LONG = 4.0
tells = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of files that are still open")


@pytest.fixture
def watch(host: Host, tmp_path: Path) -> Iterator[FolderWatch]:
    with closing(host.watch_folder(str(tmp_path))) as made:
        yield made


def ready(host: Host, watch: FolderWatch, seconds: float) -> bool:
    assert watch.waitable is not None
    return host.wait_any([watch.waitable], seconds) != []


@tells
def test_a_file_that_another_process_writes_to_is_told_while_it_is_open(
    host: Host, watch: FolderWatch, tmp_path: Path
) -> None:
    assert not ready(host, watch, 0)
    code = "import sys; file = open(sys.argv[1], 'ab', 0); file.write(b'.'); print(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", code, str(tmp_path / "stdout")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert ready(host, watch, LONG)
        assert writer.stdout is not None
        writer.stdout.readline()
        watch.clear()
        assert not ready(host, watch, 0)
        writer.communicate(timeout=LONG)


@tells
def test_what_comes_while_one_looks_is_told_again(host: Host, watch: FolderWatch, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"one")
    watch.clear()
    (tmp_path / "stdout").write_bytes(b"two")
    assert ready(host, watch, 0)


@tells
def test_reading_is_no_change(host: Host, watch: FolderWatch, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"one")
    watch.clear()
    assert (tmp_path / "stdout").read_bytes() == b"one"
    assert not ready(host, watch, 0)


def test_nothing_tells_of_a_folder_that_is_not_there(host: Host, tmp_path: Path) -> None:
    with closing(host.watch_folder(str(tmp_path / "absent"))) as watch:
        watch.clear()
        assert watch.waitable is None


def test_a_watch_can_be_closed_twice(host: Host, tmp_path: Path) -> None:
    watch = host.watch_folder(str(tmp_path))
    watch.close()
    watch.close()
    watch.clear()
    assert watch.waitable is None
