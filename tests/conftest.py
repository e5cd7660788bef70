"""What every test shares: a home of its own, a runtime, and `hearth`, which runs a command in this process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from hearth.cli.app import main
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings
from hearth.store import creation

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite what is generated: help, completions, reference")


def pytest_configure(config: pytest.Config) -> None:
    """Where no bytecode may lie beside the sources it gets a folder of its own: each of hundreds of programs of hearth
    would compile what it loads."""
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(ROOT / ".bytecode")
        sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Where pytest-xdist is there, several processes share the tests of whole folders; `-n` says otherwise. For single
    files, and what looks at this very process, starting others is not worth it."""
    if hasattr(config, "workerinput") or not config.pluginmanager.hasplugin("xdist"):
        return
    option = config.option
    alone = option.usepdb or option.trace or option.collectonly or option.update or option.capture == "no"
    is_large = any(os.path.isdir(word) for word in config.args)
    if option.numprocesses is None and option.dist == "no" and is_large and not alone:
        option.numprocesses, option.dist = shares(), "worksteal"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What tries a hundred examples may take longer than others where the machine is busy."""
    for item in items:
        tries = isinstance(item, pytest.Function) and getattr(item.obj, "is_hypothesis_test", False)
        if tries and not any(map(item.get_closest_marker, ("timeout", "slow"))):
            item.add_marker(pytest.mark.timeout(60))


def shares() -> int:
    """How many processes share the tests: one more than there are processors, since many only wait; eight at most."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable + 1, 8)


@pytest.fixture
def generated(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a checked-in file with what is made now: `generated("completions/_hearth", text)`."""

    def compare(name: str, text: str) -> None:
        path = ROOT / name
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        now = path.read_text(encoding="utf-8") if path.exists() else ""
        assert now == text, f"{name} is out of date: `pytest tests/contracts --update` writes it anew"

    return compare


# A single slow example says that the machine is busy, not that something is wrong.
hypothesis.settings.register_profile("hearth", deadline=None)
hypothesis.settings.load_profile("hearth")


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    status: int
    out_bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.out_bytes.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.out_bytes)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out_bytes.splitlines()]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with nothing in it; no test sees the real one."""
    made = tmp_path / "home"
    made.mkdir()
    for name in [name for name in os.environ if name.startswith("HEARTH_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(made))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(made / "data"))
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, str(made / "config"))
    return made


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("store") / "empty"
    assert creation._fill(str(path))
    return path.read_bytes()


@pytest.fixture(autouse=True)
def copied_database(monkeypatch: pytest.MonkeyPatch, empty_database: bytes) -> None:
    """A new database is a copy of one that was made once, for making one takes longer than most tests. The tests of
    how databases are made have another fixture of this name."""

    def fill(new: str) -> bool:
        with open(new, "xb") as file:
            file.write(empty_database)
        os.chmod(new, 0o600)
        return True

    monkeypatch.setattr(creation, "_fill", fill)


@pytest.fixture
def work(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001
    """An empty folder, which is the current one and the only root."""
    made = tmp_path / "work"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def runtime(work: Path, home: Path) -> Iterator[Runtime]:
    """A runtime whose root is `work`, with a store of its own."""
    made = Runtime(
        host=local_host(),
        settings=Settings(),
        data_dir=str(home / "data" / "hearth"),
        roots=(Root(str(work)),),
        base=str(work),
    )
    yield made
    made.close()


class Terminal(io.TextIOWrapper):
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def hearth(work: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:  # noqa: ARG001
    """Run a command: `hearth("fs", "stat", "x", stdin=b"")`; with `terminal` its outputs say they are one."""

    def run(*words: str | os.PathLike[str], stdin: bytes = b"", terminal: bool = False) -> Done:
        out, err = io.BytesIO(), io.BytesIO()
        stream = Terminal if terminal else io.TextIOWrapper
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
            patch.setattr(sys, "stdout", stream(out, "utf-8", newline="", write_through=True))
            patch.setattr(sys, "stderr", stream(err, "utf-8", newline="", write_through=True))
            status = main([os.fspath(word) for word in words])
            return Done(status, out.getvalue(), err.getvalue().decode("utf-8"))

    return run


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = Path(tempfile.mkdtemp())
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if os.name == "nt" or subprocess.run(words, capture_output=True, check=False).returncode:
        folder.rmdir()
        pytest.skip("only an administrator of Linux can make a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()
