"""Bells between real processes, and the wait for several things at once."""

from __future__ import annotations

import _thread
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from hearth.platforms import bells
from hearth.platforms.base import Host
from hearth.platforms.bells import Bell
from tests.marks import WINDOWS, posix_only

ROOT = Path(__file__).parents[2]
LONG = 30.0  # a wait that is expected to end at once

OTHER = """
import sys
from hearth.platforms.local import local_host
host, folder = local_host(), sys.argv[1]
{}
"""
RINGS_ONCE = OTHER.format("print(host.ring(folder))")
RINGS_ON = OTHER.format(
    """
import threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
print(flush=True)
while threading.active_count() > 1:
    host.ring(folder)
"""
)
HAS_A_BELL = OTHER.format("bell = host.make_bell(folder); print(flush=True); sys.stdin.read()")


@contextmanager
def other(code: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, which has printed a line when it is ready and ends with its input."""
    words = [sys.executable, "-c", code, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bells"


@pytest.fixture
def make(host: Host, folder: Path) -> Iterator[Callable[[], Bell]]:
    """Makes bells, which are closed in the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(host.make_bell(str(folder))))


def rings(host: Host, bell: Bell) -> bool:
    return host.wait_any([bell.waitable], 0) == [bell.waitable]


def test_another_process_rings_and_the_wait_is_over(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    bell = make()
    words = [sys.executable, "-c", RINGS_ONCE, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
        assert host.wait_any([bell.waitable], LONG) == [bell.waitable]
        assert process.communicate()[0].strip() == b"1"


def test_a_bell_rings_until_it_is_cleared_and_again_when_rung_again(
    host: Host, folder: Path, make: Callable[[], Bell]
) -> None:
    bell = make()
    assert not rings(host, bell)
    for _ in range(2):
        host.ring(str(folder))
        assert rings(host, bell) and rings(host, bell)
        bell.clear()
        assert not rings(host, bell)


def test_clearing_a_silent_bell_does_not_wait(host: Host, make: Callable[[], Bell]) -> None:
    bell = make()
    bell.clear()
    assert not rings(host, bell)


def test_every_bell_of_a_folder_hears_a_ring_and_no_other(
    host: Host, folder: Path, make: Callable[[], Bell], tmp_path: Path
) -> None:
    heard = [make() for _ in range(10)]
    with closing(host.make_bell(str(tmp_path / "elsewhere"))) as elsewhere:
        assert host.ring(str(folder)) == 10
        assert all(rings(host, bell) for bell in heard)
        assert not rings(host, elsewhere)


def test_who_rings_may_leave_its_own_bell_out(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    own, other = make(), make()
    assert host.ring(str(folder), but=own) == 1
    assert rings(host, other)
    assert not rings(host, own)


def test_a_thousand_rings_do_not_wait_and_are_cleared_at_once(
    host: Host, folder: Path, make: Callable[[], Bell]
) -> None:
    bell = make()
    assert {host.ring(str(folder)) for _ in range(1000)} == {1}
    bell.clear()
    assert not rings(host, bell)


@posix_only("an event cannot be full")
def test_a_bell_whose_pipe_is_full_is_ringing_already(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    bell = make()
    with pytest.raises(BlockingIOError):
        while True:
            os.write(bell.waitable, bytes(4096))
    assert host.ring(str(folder)) == 1
    bell.clear()
    assert not rings(host, bell)


def test_a_closed_bell_is_gone_and_may_be_closed_and_cleared_again(host: Host, folder: Path) -> None:
    bell = host.make_bell(str(folder))
    assert len(os.listdir(folder)) == 1
    bell.close()
    assert (os.listdir(folder), host.ring(str(folder))) == ([], 0)
    bell.close()
    bell.clear()
    assert bell.waitable == -1


def test_the_bell_of_a_killed_process_is_removed_by_the_next_ring(
    host: Host, folder: Path, make: Callable[[], Bell]
) -> None:
    make()
    with other(HAS_A_BELL, folder) as process:
        assert host.ring(str(folder)) == 2
        process.kill()
        process.wait()
        assert host.ring(str(folder)) == 1
    assert len(os.listdir(folder)) == 1


def test_bells_that_are_made_while_another_process_rings_are_all_heard(
    host: Host, folder: Path, make: Callable[[], Bell]
) -> None:
    lasting = make()
    with other(RINGS_ON, folder) as process:
        for _ in range(100):
            with closing(host.make_bell(str(folder))) as bell:
                assert host.wait_any([bell.waitable], LONG) == [bell.waitable]
        assert process.poll() is None
        lasting.clear()
        assert host.wait_any([lasting.waitable], LONG) == [lasting.waitable]


def test_a_bell_that_goes_between_the_look_and_the_ring_is_no_error(
    host: Host, folder: Path, make: Callable[[], Bell], monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [*listed(path), bells.new_name()])
    assert host.ring(str(folder)) == 1


def test_what_is_no_bell_is_left_alone(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    make()
    (folder / "notes").write_bytes(b"mine")
    (folder / f"{bells.PREFIX}x").write_bytes(b"mine")
    (folder / bells.new_name()).mkdir()
    before = sorted(os.listdir(folder))
    assert host.ring(str(folder)) == 1
    assert sorted(os.listdir(folder)) == before
    assert (folder / "notes").read_bytes() == (folder / f"{bells.PREFIX}x").read_bytes() == b"mine"


@posix_only("a file with a bell's name is a bell there")
def test_a_file_socket_or_link_with_the_name_of_a_bell_is_left_alone(
    host: Host, folder: Path, make: Callable[[], Bell], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    make()
    monkeypatch.chdir(folder)  # the path of a socket is short
    names = [bells.new_name() for _ in range(3)]
    Path(names[0]).write_bytes(b"mine")
    Path(names[1]).symlink_to(names[0])
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(names[2])
    assert host.ring(str(folder)) == 1
    assert Path(names[0]).read_bytes() == b"mine"
    assert set(names) < set(os.listdir(folder))


@posix_only("events and files are made at once there")
def test_a_bell_that_is_being_made_is_left_alone_for_a_minute(host: Host, folder: Path) -> None:
    folder.mkdir(parents=True)
    young, old = f".{bells.new_name()}", f".{bells.new_name()}"
    for name in (young, old):
        os.mkfifo(folder / name)
    os.utime(folder / old, (0, 0))
    assert host.ring(str(folder)) == 0
    assert {young, old} == set(os.listdir(folder))
    host.make_bell(str(folder)).close()
    assert os.listdir(folder) == [young]


def test_a_folder_that_is_not_there_or_no_folder_is_rung_without_an_error(host: Host, folder: Path) -> None:
    assert host.ring(str(folder)) == 0
    assert not folder.exists()
    folder.parent.mkdir()
    folder.write_bytes(b"")
    assert host.ring(str(folder)) == 0


def test_where_no_bell_can_stand_there_is_one_that_nobody_can_ring(host: Host, tmp_path: Path) -> None:
    (tmp_path / "bells").write_bytes(b"")
    bell = host.make_bell(str(tmp_path / "bells"))
    assert host.ring(str(tmp_path / "bells")) == 0
    assert host.wait_any([bell.waitable], 0.01) == []
    bell.clear()
    bell.close()
    bell.close()
    assert bell.waitable == -1


@pytest.mark.skipif(sys.platform != "linux", reason="proc is Linux'")
def test_a_file_system_without_named_pipes_has_bells_that_nobody_can_ring(host: Host) -> None:
    with closing(host.make_bell("/proc/self")) as bell:
        assert (host.ring("/proc/self"), host.wait_any([bell.waitable], 0)) == (0, [])


def test_the_path_of_the_folder_may_be_long(host: Host, tmp_path: Path) -> None:
    folder = os.path.join(tmp_path, *("d" * 100 for _ in range(4)), "bells")
    with closing(host.make_bell(folder)) as bell:
        assert host.ring(folder) == 1
        assert rings(host, bell)
    assert os.listdir(host.unbounded(folder)) == []


def test_a_bell_is_for_this_user_and_this_process_only(folder: Path, make: Callable[[], Bell]) -> None:
    bell = make()
    if sys.platform == "win32":
        assert not os.get_handle_inheritable(bell.waitable)
    else:
        assert not os.get_inheritable(bell.waitable)
        (name,) = folder.iterdir()
        assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, name)] == [0o700, 0o600]


def test_those_that_ring_are_told_of_a_hundred(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    ringing = [make() for _ in range(2)]
    host.ring(str(folder))
    silent = [make() for _ in range(98)]
    waited = [bell.waitable for bell in (*silent[:70], ringing[1], *silent[70:], ringing[0])]
    assert host.wait_any(waited, LONG) == [ringing[1].waitable, ringing[0].waitable]


def test_a_hundred_are_waited_for_until_one_rings(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    waited = [make().waitable for _ in range(100)]
    assert host.wait_any(waited, 0.02) == []
    ringer = threading.Timer(0.05, host.ring, [str(folder)])
    ringer.start()
    assert host.wait_any(waited, LONG)
    ringer.join()


@pytest.mark.parametrize("count", [0, 1])
def test_a_wait_without_a_ring_lasts_as_long_as_it_may(host: Host, make: Callable[[], Bell], count: int) -> None:
    waited = [make().waitable for _ in range(count)]
    start = time.monotonic()
    assert host.wait_any(waited, 0.05) == []
    assert time.monotonic() - start >= 0.05 - (0.016 if WINDOWS else 0)  # its clock has steps


def test_a_wait_may_be_longer_than_the_system_counts(host: Host, folder: Path, make: Callable[[], Bell]) -> None:
    bell = make()
    ringer = threading.Timer(0.02, host.ring, [str(folder)])
    ringer.start()
    assert host.wait_any([bell.waitable], 10.0**9) == [bell.waitable]
    ringer.join()


class Stop(Exception):
    pass


if sys.platform == "win32":
    STOPS = signal.SIGBREAK

    def send_to(_: int) -> None:
        _thread.interrupt_main(STOPS)
else:
    STOPS = signal.SIGTERM

    def send_to(thread: int) -> None:
        signal.pthread_kill(thread, STOPS)


@pytest.mark.parametrize("count", [0, 1, 70])
def test_what_a_signal_handler_raises_ends_the_wait(host: Host, make: Callable[[], Bell], count: int) -> None:
    def stop(*_: object) -> None:
        raise Stop

    waited = [make().waitable for _ in range(count)]
    sender = threading.Timer(0.05, send_to, [threading.get_ident()])
    before = signal.signal(STOPS, stop)
    try:
        with pytest.raises(Stop):
            sender.start()
            host.wait_any(waited, LONG)
    finally:
        sender.join()
        signal.signal(STOPS, before)


@pytest.mark.parametrize("others", [0, 70])
def test_a_closed_bell_is_not_waited_for(host: Host, folder: Path, make: Callable[[], Bell], others: int) -> None:
    waited = [make().waitable for _ in range(others)]
    closed = host.make_bell(str(folder))
    closed.close()
    with pytest.raises(OSError, match="closed"):
        host.wait_any([*waited, closed.waitable], LONG)


@posix_only("a handle's number may be that of another one at once")
def test_a_descriptor_that_was_closed_is_an_error_and_not_always_ready(host: Host, make: Callable[[], Bell]) -> None:
    bell = make()
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    with pytest.raises(OSError):
        host.wait_any([bell.waitable, writer], LONG)


def test_the_start_of_the_machine_is_the_same_for_every_process(host: Host) -> None:
    code = "from hearth.platforms.local import local_host; print(local_host().boot_id())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert done.stdout.decode("ascii").strip() == host.boot_id()
    assert bool(host.boot_id()) is not WINDOWS
