"""`hearth demo`: a tour that really does what it shows, in a temporary folder with a data directory of its own."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Annotated

from hearth.cli import render, streams
from hearth.cli.options import Globals
from hearth.model import Help, Items, PathName, State, model
from hearth.runtime import current_directory

WORKER_ENDS_S = 5.0
FILES = {
    "draft.md": "# Shopping\n\nmilk and eggs\nbread\nhoney\n",
    "stat.json": '{"path": "shopping.md"}\n',
    "requests.ndjson": (
        '{"id": 1, "operation": "fs.stat", "input": {"path": "shopping.md"}}\n'
        '{"id": 2, "operation": "fs.read", "input": {"path": "shopping.md", "lines": "3:4"}}\n'
    ),
}


PROGRAM = ("--", sys.executable, "-c", "print('built')")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the tour: what it shows, its words behind `hearth`, the status that it must end with."""

    title: str
    words: tuple[str, ...]
    status: int = 0
    stdin: str = ""  # one of FILES


TOUR = (
    Step("A folder with a draft in it", ("fs", "list")),
    Step("Write a file; the answer names a receipt", ("fs", "write", "shopping.md", "--from", "draft.md")),
    Step("Read a part of it", ("fs", "read", "shopping.md", "--lines", "3:5")),
    Step("Search the folder", ("fs", "search", "honey")),
    Step("See what a change would do", ("fs", "patch", "shopping.md", "--old", "bread", "--new", "rye", "--dry-run")),
    Step("Change it", ("fs", "patch", "shopping.md", "--old", "bread", "--new", "rye")),
    Step(
        "A change that does not fit is refused and says what stands there (status 3: conflict)",
        ("fs", "patch", "shopping.md", "--old", "milk and egs", "--new", "milk"),
        status=3,
    ),
    Step("Delete the draft", ("fs", "delete", "draft.md")),
    Step("Take that back", ("fs", "undo", "--last")),
    Step("What was changed so far", ("fs", "history")),
    Step("What this machine is and has", ("machine", "host-info")),
    Step(
        "Run a program; no shell reads its words",
        ("machine", "exec", "--", sys.executable, "-c", "print('a & b | c > d')"),
    ),
    Step(
        "One that does not end is ended, with all that it started (status 124: timed out)",
        ("machine", "exec", "--timeout", "300ms", "--", sys.executable, "-c", "import time; time.sleep(60)"),
        status=124,
    ),
    Step("Queue a program; it would run on if this terminal closed", ("task", "submit", "--wait", *PROGRAM)),
    Step("What it printed, from the beginning of its id", ("task", "logs", "job_")),
    Step(
        "Queue one for later, as an assistant would in a conversation",
        ("task", "submit", "--delay", "1h", "--label", "later", "--conversation", "tour", *PROGRAM),
    ),
    Step("Take it back, which is possible as long as it has not ended", ("task", "cancel", "--label", "later")),
    Step("What the assistant is told of that", ("run", "arrivals", "--conversation", "tour")),
    Step("What was done again and again, as recipes to review", ("recipe", "suggest", "--threshold", "2")),
    Step("The jobs so far", ("task", "list")),
    Step("The processes with the most memory", ("machine", "process-list", "--sort", "memory", "--limit", "3")),
    Step("Keep a copy that no later change touches", ("artifact", "put", "shopping.md")),
    Step("What is kept so", ("artifact", "list")),
    Step("The same operations with JSON, for scripts", ("call", "fs.stat", "@stat.json")),
    Step("Many calls in one process", ("call", "--batch", "--ordered"), stdin="requests.ndjson"),
    Step("Where hearth keeps its receipts", ("db", "tables")),
    Step("Everything there is", ("operations",)),
)


@model
class RunDemo:
    keep: Annotated[bool, Help("Leave the folder, to go on in it.")] = False


@model
class StepDone:
    command: Annotated[str, Help("What was run.")]
    shows: Annotated[str, Help("What it shows.")]
    exit_status: Annotated[int, Help("How it ended.")]


@model
class DemoDone:
    """What the tour did; failed where a command ended in another way than it should."""

    state: State = State.COMPLETED
    steps: Annotated[tuple[StepDone, ...], Items(columns=("command", "exit_status")), Help("The commands, in order.")]
    folder: Annotated[str | None, PathName(), Help("The folder that was left.")] = None


def demo(options: Globals, given: RunDemo) -> DemoDone | int:
    """Run the tour. For people it shows each command and what it printed; for programs only how each ended."""
    told = not options.output.machine_readable and not options.output.quiet
    with _folder(keep=given.keep) as folder:
        done = [(step, _run(step, folder, told=told)) for step in TOUR]
        failed = [step for step, status in done if status != step.status]
        if told:
            _say_goodbye(folder if given.keep else None, failed)
            return 1 if failed else 0
    return DemoDone(
        state=State.FAILED if failed else State.COMPLETED,
        steps=tuple(StepDone(command=_line(step), shows=step.title, exit_status=status) for step, status in done),
        folder=folder if given.keep else None,
    )


@contextmanager
def _folder(*, keep: bool) -> Iterator[str]:
    """A folder with the tour's files as the current one; gone afterwards unless it is to be kept."""
    import tempfile

    before = current_directory()
    base = tempfile.mkdtemp(prefix="hearth-demo-")
    folder = os.path.join(base, "folder")
    try:
        os.mkdir(folder)
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        with open(os.path.join(base, "hearth.toml"), "w", encoding="utf-8") as file:
            file.write("worker.idle_exit_s = 0\n")  # no setting of the user's own takes part
        os.chdir(folder)
        yield folder
    finally:
        os.chdir(before)
        _until_nobody_works(base)
        if not keep:
            _remove(base)


def _until_nobody_works(base: str) -> None:
    """The worker that the tour started ends as soon as it is idle, and has the database open until then."""
    import sqlite3

    from hearth.cli.invoke import open_runtime
    from hearth.engine import presence
    from hearth.engine.waiting import wait_until
    from hearth.store import workers

    runtime = open_runtime(Globals(config=os.path.join(base, "hearth.toml"), data_dir=os.path.join(base, "data")))

    def look(view: sqlite3.Connection) -> bool | None:
        return None if workers.all_of(view) or presence.is_starting(runtime) else True

    with closing(runtime):
        wait_until(runtime, look, WORKER_ENDS_S, starts=False)


def _remove(base: str) -> None:
    """Remove the folder, also while a worker that has signed off puts away its last files."""
    import time
    from shutil import rmtree

    until = time.monotonic() + WORKER_ENDS_S
    while True:
        rmtree(base, ignore_errors=True)
        if not os.path.exists(base) or time.monotonic() > until:
            return
        time.sleep(0.02)


def _run(step: Step, folder: str, *, told: bool) -> int:
    from hearth.cli.app import main

    base = os.path.dirname(folder)
    own = ["--config", os.path.join(base, "hearth.toml"), "--data-dir", os.path.join(base, "data"), "--root", folder]
    if told:
        render.write_line(f"\n# {step.title}\n$ {_line(step)}")
    with streams.replaced(FILES.get(step.stdin, ""), silent=not told):
        return main([*own, *step.words])


def _line(step: Step) -> str:
    """The command as it is typed in sh, and on Windows in PowerShell."""
    command = " ".join(["hearth", *(word if re.fullmatch(r"[\w.:/-]+", word) else f'"{word}"' for word in step.words)])
    if not step.stdin:
        return command
    return f"Get-Content {step.stdin} | {command}" if os.name == "nt" else f"{command} < {step.stdin}"


def _say_goodbye(kept: str | None, failed: list[Step]) -> None:
    for step in failed:
        render.notice(f"hearth: this did not end as it should: {_line(step)}")
    render.write_line("")
    if kept is None:
        render.write_line("All of this happened in a temporary folder, which is gone again.")
        render.write_line(
            "Run `hearth demo --keep` to keep it and repeat the commands there, or try them on your own files."
        )
        return
    data = os.path.join(os.path.dirname(kept), "data")
    render.write_line("The folder is still there. To repeat the commands:\n")
    render.write_line(f'cd "{kept}"')
    render.write_line(f'$env:HEARTH_DATA_DIR = "{data}"' if os.name == "nt" else f'export HEARTH_DATA_DIR="{data}"')
