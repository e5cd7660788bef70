"""Processes that outlive the one that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from hearth.platforms.background import LOG_BYTES
from hearth.platforms.base import Host
from hearth.platforms.bells import Bell
from tests.marks import WINDOWS, posix_only

ROOT = Path(__file__).parents[2]
LONG = 30.0

# Rings `here` when it is there, then waits until somebody rings `there`.
LASTING = """
import os, sys
from hearth.platforms.local import local_host
host, (here, there) = local_host(), sys.argv[1:]
bell = host.make_bell(there)
print("there", os.getpid(), repr(sys.stdin.read()), flush=True)
host.ring(here)
host.wait_any([bell.waitable], None)
print("ends", file=sys.stderr, flush=True)
bell.close()
host.ring(here)
"""
# Starts that once a line, or the end, of its input comes.
PARENT = """
import os, sys
from hearth.platforms.local import local_host
sys.stdin.readline()
print(local_host().start_background(sys.argv[2:], os.environ, sys.argv[1]), flush=True)
sys.stdin.read()
"""


class Lasting:
    """A program that goes on until `end`."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.here, self.there, self.log = (str(folder / name) for name in ("here", "there", "log"))
        self.words = (sys.executable, "-c", LASTING, self.here, self.there)
        self.bell: Bell = host.make_bell(self.here)

    def hear(self) -> None:
        assert self.host.wait_any([self.bell.waitable], LONG)
        self.bell.clear()

    def is_there(self) -> bool:
        return self.host.ring(self.there) == 1

    def end(self) -> None:
        assert self.is_there()
        self.hear()

    def written(self) -> list[str]:
        return Path(self.log).read_text(encoding="utf-8").split()


@pytest.fixture
def lasting(host: Host, tmp_path: Path) -> Iterator[Lasting]:
    made = Lasting(host, tmp_path)
    with closing(made.bell):
        yield made
        host.ring(made.there)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(host: Host, code: str, folder: Path, given: dict[str, str] | None = None) -> str:
    """What a program writes, which rings when all of that is in the log."""
    ended = f"\nfrom hearth.platforms.local import local_host\nlocal_host().ring({str(folder)!r})"
    with closing(host.make_bell(str(folder))) as bell:
        words = (sys.executable, "-c", f"{code}\nsys.stdout.flush()\n{ended}")
        host.start_background(words, given or environment(), str(folder / "log"))
        assert host.wait_any([bell.waitable], LONG)
    return (folder / "log").read_text(encoding="utf-8").strip()


def test_it_outlives_a_parent_that_is_killed_with_its_group(lasting: Lasting) -> None:
    words = [sys.executable, "-c", PARENT, lasting.log, *lasting.words]
    with subprocess.Popen(
        words, env=environment(), start_new_session=not WINDOWS, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        pid = int(parent.stdout.readline())
        lasting.hear()
        if sys.platform == "win32":
            parent.kill()
        else:
            os.killpg(parent.pid, 9)
        parent.wait()
        assert lasting.host.process_start(pid) is not None
        lasting.end()
    assert lasting.written()[0] == "there"
    assert lasting.written()[2:] == ["''", "ends"]


def test_its_pid_is_told(lasting: Lasting) -> None:
    pid = lasting.host.start_background(lasting.words, environment(), lasting.log)
    lasting.hear()
    own = int(lasting.written()[1])
    assert pid == own or (WINDOWS and pid in [each.pid for each in psutil.Process(own).parents()])
    lasting.end()


@posix_only("Windows has no zombies")
def test_no_zombie_of_it_remains_in_a_parent_that_lives_on(lasting: Lasting) -> None:
    pid = lasting.host.start_background(lasting.words, environment(), lasting.log)
    lasting.hear()
    lasting.end()
    for thread in threading.enumerate():
        if thread.name == f"reap {pid}":
            thread.join(LONG)
    assert lasting.host.process_start(pid) is None


def test_a_parent_does_not_wait_for_it_to_end(lasting: Lasting) -> None:
    words = [sys.executable, "-W", "error", "-c", PARENT, lasting.log, *lasting.words]
    done = subprocess.run(words, env=environment(), input=b"", capture_output=True, check=False, timeout=LONG)
    lasting.hear()
    assert (done.returncode, done.stderr) == (0, b"")
    lasting.end()


def test_what_the_log_holds_stays_and_both_outputs_are_added(host: Host, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"before\n")
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr, flush=True); print('more')"
    assert run(host, code, tmp_path).split() == ["before", "out", "err", "more"]


def test_two_add_to_one_log(host: Host, tmp_path: Path) -> None:
    run(host, "import sys; print('first')", tmp_path)
    assert run(host, "import sys; print('second')", tmp_path).split() == ["first", "second"]


def test_a_long_log_is_set_aside_once(host: Host, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(bytes(LOG_BYTES))
    run(host, "import sys; print('last')", tmp_path)
    assert (tmp_path / "log").stat().st_size > LOG_BYTES
    assert run(host, "import sys; print('first')", tmp_path) == "first"
    assert (tmp_path / "log.1").read_bytes()[LOG_BYTES:].strip() == b"last"


@posix_only("what may read a file is inherited there")
def test_the_log_is_for_this_user_only(host: Host, tmp_path: Path) -> None:
    run(host, "import sys", tmp_path)
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_it_reads_the_end_of_its_input_and_is_in_nobodys_way(host: Host, tmp_path: Path) -> None:
    code = "import os, sys; print(repr(sys.stdin.read()), os.path.dirname(os.getcwd()) == os.getcwd())"
    assert run(host, code, tmp_path) == "'' True"


def test_it_gets_the_environment_that_it_is_given(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, sys; print(ascii(os.environ.get('GIVEN')), os.environ.get('KEPT_BACK'))"
    given = environment() | {"GIVEN": "é = 1"}
    monkeypatch.setenv("KEPT_BACK", "1")
    assert run(host, code, tmp_path, given) == "'\\xe9 = 1' None"


def test_words_arrive_as_they_were_given(host: Host, tmp_path: Path) -> None:
    words = ["", "a b", '"', "$HOME", "%PATH%", "x\\", "*", "-n", "é"]
    code = f"""
import sys
from hearth.platforms.local import local_host
print(ascii(sys.argv[1:]), flush=True)
local_host().ring({str(tmp_path)!r})
"""
    with closing(host.make_bell(str(tmp_path))) as bell:
        host.start_background((sys.executable, "-c", code, *words), environment(), str(tmp_path / "log"))
        assert host.wait_any([bell.waitable], LONG)
    assert (tmp_path / "log").read_text(encoding="utf-8").strip() == ascii(words)


@pytest.mark.skipif(sys.platform != "linux", reason="proc is Linux'")
def test_it_inherits_no_descriptor_and_has_a_session_of_its_own(host: Host, tmp_path: Path) -> None:
    code = """
import os, sys
opened = [os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if int(each) > 2 and
          os.path.exists(f"/proc/self/fd/{each}")]
print([each for each in opened if not each.startswith("/proc/")], os.getsid(0) == os.getpid())
"""
    reader, writer = os.pipe()
    try:
        os.set_inheritable(writer, True)
        assert run(host, code, tmp_path) == "[] True"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_program_that_is_not_there_is_an_error(host: Host, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        host.start_background((str(tmp_path / "none"),), environment(), str(tmp_path / "log"))
    with suppress(FileNotFoundError):
        assert (tmp_path / "log").read_bytes() == b""


def test_a_log_that_cannot_be_made_is_an_error_and_starts_nothing(lasting: Lasting, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        lasting.host.start_background(lasting.words, environment(), str(tmp_path / "none" / "log"))
    assert not lasting.is_there()
