"""The scripts in `examples/` do what they say, in each shell that is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.powershell import syntax_is_right

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".ps1"))


@dataclass(frozen=True, slots=True)
class Case:
    """An example on a folder with some files, and what it must print."""

    name: str
    printed: str
    status: int = 0
    words: tuple[str, ...] = ()
    stdin: str | None = None  # a file beside the script; PowerShell gets its name as a word


CASES = [
    Case("no-todos", "still to do:\nplan.txt\t2\tTODO: buy bread\n", status=1),
    Case("no-todos", "nothing left to do\n", words=("done",)),
    Case("update-safely", "count.txt is 8 now\n", words=("count.txt",)),
    Case("many-calls", "failed: lost\n4 answers\n", status=1, stdin="many-calls.ndjson"),
    Case(
        "undo-a-group", "count.txt\ndone\nguests.txt\nmenu.txt\nplan.txt\nafter the undo:\ncount.txt\ndone\nplan.txt\n"
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    (made / "done").mkdir(parents=True)
    (made / "plan.txt").write_text("eat soup\nTODO: buy bread\n", encoding="utf-8")
    (made / "count.txt").write_text("7", encoding="utf-8")
    return made


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH with `hearth` in it, as an installation would put it there."""
    made = tmp_path / "bin"
    made.mkdir()
    if sys.platform == "win32":
        (made / "hearth.cmd").write_text(f'@"{sys.executable}" -m hearth %*\r\n', encoding="utf-8")
    else:
        (made / "hearth").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hearth "$@"\n', encoding="utf-8")
        (made / "hearth").chmod(0o755)
    return made


def run(case: Case, shell: list[str], suffix: str, folder: Path, programs: Path) -> tuple[int, str]:
    words = [*shell, str(EXAMPLES / f"{case.name}{suffix}"), *case.words]
    if case.stdin is not None and suffix == ".ps1":
        words.append(str(EXAMPLES / case.stdin))
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        input=(EXAMPLES / case.stdin).read_bytes() if case.stdin else b"",
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="on Windows the PowerShell scripts are the ones to run")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.status}")
def test_an_example_does_in_sh_what_it_says(case: Case, folder: Path, programs: Path) -> None:
    status, printed = run(case, ["sh"], ".sh", folder, programs)
    assert (status, sorted(printed.splitlines())) == (case.status, sorted(case.printed.splitlines()))


def powershell() -> list[str] | None:
    """A real PowerShell; the emulated Windows has a stub that does nothing and says that all is well."""
    if os.environ.get("WINELAB") == "1":
        return None
    found = shutil.which("pwsh") or shutil.which("powershell")
    return [found, "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"] if found else None


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(powershell() is None, reason="there is no PowerShell here")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.status}")
def test_an_example_does_in_powershell_what_it_says(case: Case, folder: Path, programs: Path) -> None:
    shell = powershell()
    assert shell is not None
    status, printed = run(case, shell, ".ps1", folder, programs)
    assert (status, sorted(printed.splitlines())) == (case.status, sorted(case.printed.splitlines()))


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name.endswith(".ps1")])
def test_a_powershell_example_parses_and_is_plain_ascii(name: str) -> None:
    # PowerShell 5.1 reads a script without a byte order mark in the ANSI code page.
    script = (EXAMPLES / name).read_text(encoding="ascii")
    assert "&&" not in script
    assert syntax_is_right(script)


def test_each_example_is_there_for_both_shells_and_is_tested_and_described() -> None:
    names = {case.name for case in CASES}
    assert set(SCRIPTS) == {f"{name}{suffix}" for name in names for suffix in (".sh", ".ps1")}
    described = re.findall(r"^\| `([\w-]+)` \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(described) == names
