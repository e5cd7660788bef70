"""The scripts in the shells that they are for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli.completion.command import FILES, Shell, script_of
from tests.marks import not_emulated

pytestmark = pytest.mark.timeout(30)  # each starts programs, which takes a busy machine seconds
SCRIPTS = Path(__file__).parents[3] / "completions"
Complete = Callable[..., list[str]]

BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_hearth
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
"""
# What stands on the line after Tab, told by a widget of our own.
ZSH = """
fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D
tell() {{ print -r -- "[[$BUFFER]]" }}; zle -N tell; bindkey '^T' tell; bindkey '^I' complete-word
print ready
"""


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None or os.name == "nt":
        pytest.skip(f"{shell} is not here")
    return found


def run(command: list[str], folder: Path) -> list[str]:
    done = subprocess.run(command, cwd=folder, env=environment_of(folder), capture_output=True, timeout=20, check=False)
    assert done.stderr == b""
    return done.stdout.decode("utf-8").splitlines()


def environment_of(folder: Path) -> dict[str, str]:
    """An environment in which `hearth` is this one."""
    bin_folder = folder.parent / "bin"
    bin_folder.mkdir(exist_ok=True)
    program = bin_folder / "hearth"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hearth "$@"\n', encoding="ascii")
    program.chmod(0o755)
    return {
        **os.environ,
        "PYTHONPATH": str(SCRIPTS.parent),
        "PATH": os.pathsep.join([str(bin_folder), os.environ["PATH"]]),
    }


def in_bash(folder: Path, *words: str) -> list[str]:
    bash = needs("bash")
    return run([bash, "--norc", "-c", BASH, "bash", str(SCRIPTS / "hearth.bash"), "hearth", *words], folder)


def in_fish(folder: Path, *words: str) -> list[str]:
    fish = needs("fish")
    line = " ".join(["hearth", *words])
    program = f"source {SCRIPTS / 'hearth.fish'}; complete -C '{line}'"
    return [found.split("\t")[0] for found in run([fish, "--no-config", "-c", program], folder)]


SHELLS = pytest.mark.parametrize("complete", [in_bash, in_fish])


@SHELLS
def test_families_and_commands_come_first(work: Path, complete: Complete) -> None:
    assert {"fs", "call", "completion"} <= set(complete(work, ""))


@SHELLS
def test_operations_come_behind_their_family(work: Path, complete: Complete) -> None:
    assert complete(work, "fs", "sta") == ["stat"]
    assert complete(work, "completion", "") == ["show", "install"] or complete(work, "completion", "") == [
        "install",
        "show",
    ]


@SHELLS
def test_options_are_those_of_the_command_and_the_global_ones(work: Path, complete: Complete) -> None:
    assert complete(work, "fs", "stat", "--fol") == ["--follow"]
    assert complete(work, "fs", "stat", "--js") == ["--json"]
    assert complete(work, "fs", "stat", "--ordered") == []


@SHELLS
def test_global_options_and_their_values_are_no_commands(work: Path, complete: Complete) -> None:
    (work / "fs").mkdir()
    assert complete(work, "--root", "fs", "fs", "sta") == ["stat"]
    assert complete(work, "--json", "fs", "sta") == ["stat"]


@SHELLS
def test_a_choice_offers_its_words(work: Path, complete: Complete) -> None:
    assert complete(work, "completion", "show", "z") == ["zsh"]
    assert complete(work, "completion", "install", "--shell", "fi") == ["fish"]


@SHELLS
def test_paths_are_completed_where_a_path_is_expected(work: Path, complete: Complete) -> None:
    (work / "notes.md").write_bytes(b"")
    (work / "nested").mkdir()
    assert {found.rstrip("/") for found in complete(work, "fs", "stat", "n")} == {"notes.md", "nested"}
    assert [found.rstrip("/") for found in complete(work, "--data-dir", "n")] == ["nested"]


@SHELLS
def test_nothing_is_offered_where_anything_may_stand(work: Path, complete: Complete) -> None:
    (work / "notes.md").write_bytes(b"")
    assert complete(work, "call", "fs.stat", "n") == []


@SHELLS
def test_an_id_is_looked_up_where_one_is_expected(work: Path, hearth: Callable[..., Any], complete: Complete) -> None:
    receipt = hearth("fs", "write", "a.txt", "--data", "one", "--json").json["receipt"]
    assert complete(work, "fs", "undo", "rec_") == [receipt]


@SHELLS
def test_settings_are_offered_where_one_is_named(work: Path, complete: Complete) -> None:
    for command in ("get", "set", "unset"):
        assert complete(work, "config", command, "fs.sy") == ["fs.sync"]


def test_bash_completes_a_value_behind_an_equals_sign(work: Path) -> None:
    # Readline splits --shell=z into three words.
    assert in_bash(work, "completion", "install", "--shell", "=", "z") == ["zsh"]


EDITING = b"\x1b[?2004h"  # zsh turns bracketed paste on when its line editor takes over the terminal
LINES = {
    "hearth fs sta": "hearth fs stat ",
    "hearth fs stat --fol": "hearth fs stat --follow ",
    "hearth --json completion show z": "hearth --json completion show zsh ",
    "hearth fs stat not": "hearth fs stat notes.md ",
    "hearth completion install --shell fi": "hearth completion install --shell fish ",
    "hearth config get fs.sy": "hearth config get fs.sync ",
}


def test_zsh_completes_the_line(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "notes.md").write_bytes(b"")
    receipt = hearth("fs", "write", "a.txt", "--data", "one", "--json").json["receipt"]
    terminal = Terminal([needs("zsh"), "-f", "-i"], work)
    try:
        terminal.send(ZSH.format(folder=SCRIPTS).strip().replace("\n", "; ") + "\n")
        terminal.read_until(b"\nready\r\n")
        terminal.read_until(EDITING)
        for typed, line in {**LINES, "hearth fs undo rec_": f"hearth fs undo {receipt} "}.items():
            terminal.send(f"{typed}\t\x14\x15")
            assert terminal.read_until(b"]]\r\n").rpartition(b"[[")[2] == line.encode()
    finally:
        terminal.close()


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        import pty

        self._leader, follower = pty.openpty()
        env = {**environment_of(folder), "TERM": "dumb", "PS1": "", "PROMPT_EOL_MARK": ""}
        self._process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        os.close(follower)
        self._seen = b""

    def send(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def read_until(self, marker: bytes) -> bytes:
        import select

        while marker not in self._seen:
            assert select.select([self._leader], [], [], 4)[0], f"only {self._seen!r} came"
            self._seen += os.read(self._leader, 4096)
        before, _, self._seen = self._seen.partition(marker)
        return before

    def close(self) -> None:
        self._process.kill()
        self._process.wait(5)
        os.close(self._leader)


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "-n")])
def test_a_script_is_free_of_syntax_errors(shell: str, check: str, work: Path) -> None:
    assert run([needs(shell), check, str(SCRIPTS / FILES[Shell(shell)])], work) == []


@not_emulated("its PowerShell does nothing")
def test_powershell_completes_in_powershell(work: Path) -> None:
    pwsh = shutil.which("pwsh") or shutil.which("powershell")
    if pwsh is None:
        pytest.skip("PowerShell is not here")
    program = (
        f". '{SCRIPTS / 'hearth.ps1'}'; "
        "(TabExpansion2 'hearth fs sta' 13).CompletionMatches.CompletionText; "
        "(TabExpansion2 'hearth fs stat --fol' 20).CompletionMatches.CompletionText"
    )
    assert run([pwsh, "-NoProfile", "-Command", program], work) == ["stat", "--follow"]


def test_powershell_tables_have_no_key_twice() -> None:
    for table in script_of(Shell.POWERSHELL).split("@{")[1:]:
        keys = [line.split("' = ")[0].strip().lower() for line in table.splitlines() if "' = " in line]
        assert len(set(keys)) == len(keys)
