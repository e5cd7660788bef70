"""`hearth completion show` and `hearth completion install`, and the look-up of ids behind them."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

from hearth.cli.options import Globals
from hearth.errors import from_os, invalid
from hearth.model import Cli, Help, PathName, Raw, State, model


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


FILES = {Shell.BASH: "hearth.bash", Shell.ZSH: "_hearth", Shell.FISH: "hearth.fish", Shell.POWERSHELL: "hearth.ps1"}
MOST_IDS = 50


@model
class ShowCompletion:
    shell: Annotated[Shell, Cli(argument=True, metavar="SHELL"), Help("The shell: bash, zsh, fish or powershell.")]


@model
class CompletionScript:
    """A script that makes a shell complete hearth's words."""

    state: State = State.COMPLETED
    shell: Annotated[Shell, Help("The shell that it is for.")]
    script: Annotated[str, Raw(), Help("The script.")]


@model
class InstallCompletion:
    shell: Annotated[Shell | None, Help("The shell; without it the one that SHELL names, PowerShell on Windows.")] = (
        None
    )


@model
class CompletionInstalled:
    """Where the script lies, and what is left to do."""

    state: State = State.COMPLETED
    shell: Annotated[Shell, Help("The shell that it is for.")]
    path: Annotated[str, PathName(), Help("The file that was written.")]
    next_step: Annotated[str, Help("What makes the shell read it.")]


@model
class CompleteIds:
    kind: Annotated[str, Cli(argument=True), Help("The kind of id, such as receipt.")]
    prefix: Annotated[str, Cli(argument=True), Help("How the id begins.")] = ""


def script_of(shell: Shell) -> str:
    """The completion script of a shell."""
    from importlib import import_module

    return str(import_module(f"hearth.cli.completion.{shell.value}").script())


def show(_: Globals, given: ShowCompletion) -> CompletionScript:
    """The script on standard output."""
    return CompletionScript(shell=given.shell, script=script_of(given.shell))


def install(_: Globals, given: InstallCompletion) -> CompletionInstalled:
    """Write the script where the shell looks for it. Raises `InvalidInput`, and what the system refuses."""
    shell = given.shell or _current_shell()
    path = _target(shell)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii", newline="\n") as file:
            file.write(script_of(shell))
    except OSError as error:
        raise from_os(error, path) from error
    return CompletionInstalled(shell=shell, path=path, next_step=_next_step(shell, path))


def _current_shell() -> Shell:
    named = os.path.basename(os.environ.get("SHELL", ""))
    if named in list(Shell):
        return Shell(named)
    if os.name == "nt":
        return Shell.POWERSHELL
    raise invalid("shell", "missing", "SHELL names no shell that hearth knows; pass --shell")


def _target(shell: Shell) -> str:
    home = os.path.expanduser("~")
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return {
        # bash-completion looks for a file that has the command's own name.
        Shell.BASH: os.path.join(data, "bash-completion", "completions", "hearth"),
        Shell.ZSH: os.path.join(data, "zsh", "site-functions", "_hearth"),
        Shell.FISH: os.path.join(config, "fish", "completions", "hearth.fish"),
        Shell.POWERSHELL: os.path.join(os.environ.get("LOCALAPPDATA") or data, "hearth", "hearth.ps1"),
    }[shell]


def _next_step(shell: Shell, path: str) -> str:
    quoted = path.replace("'", "''")
    return {
        Shell.BASH: f"Open a new shell. Without the bash-completion package, add to ~/.bashrc: source '{path}'",
        Shell.ZSH: f"Add to ~/.zshrc, before compinit: fpath=('{os.path.dirname(path)}' $fpath)",
        Shell.FISH: "Open a new shell.",
        Shell.POWERSHELL: f"Add to the file that $PROFILE names: . '{quoted}'",
    }[shell]


def complete_ids(options: Globals, given: CompleteIds) -> int:
    """Print the newest ids that begin so, one a line; nothing where they cannot be known."""
    from hearth.cli import render
    from hearth.cli.invoke import open_runtime
    from hearth.store.ids import starting_with

    runtime = open_runtime(options)
    found = starting_with(runtime.data_dir, given.kind, given.prefix, MOST_IDS)
    render.write_bytes("".join(f"{each}\n" for each in found).encode("ascii"))
    return 0
