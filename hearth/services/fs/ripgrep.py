"""ripgrep as a scout: it proposes files and where in them a first match stands. It is never believed: whoever asks
opens each file again inside the roots and looks for himself."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple, Self

from hearth.content.matching import Query, for_rust
from hearth.errors import HearthError
from hearth.platforms import programs
from hearth.services.fs.walk import Budget


class Proposal(NamedTuple):
    parts: tuple[str, ...]  # below the directory that is searched
    line: int
    offset: int  # of that line


class Failed(Exception):
    """ripgrep did not do its work: it does not take the expression, though RE2 does, or it is too old, or it ended."""


class Scope(NamedTuple):
    """Which files are looked into."""

    hidden: bool
    ignored: bool
    binary: bool
    max_file_bytes: int
    parents: bool  # whether ignore files above the directory count
    names: tuple[str, ...]  # globs that a name must match one of
    excluded: tuple[str, ...]  # globs that take out files and directories


def arguments(program: str, query: Query, scope: Scope) -> list[str]:
    """The command line of one search."""
    made = [program, "--no-config", "--color=never", "--no-heading", "--with-filename", "--null", "--line-number"]
    # A line longer than one byte is not printed, only where it begins; the first of each file will do.
    made += ["--byte-offset", "--max-columns=1", "--max-count=1", "--crlf", "--debug", "--no-require-git"]
    made += ["--no-ignore-global", "--no-ignore-messages", f"--max-filesize={scope.max_file_bytes}"]
    made += ["--hidden"] * scope.hidden + ["--no-ignore"] * scope.ignored + ["--text"] * scope.binary
    made += ["--no-ignore-parent"] * (not scope.parents) + ["--ignore-case"] * query.ignore_case
    made += ["--glob=!.git"] * (not scope.ignored)
    for glob in scope.names:
        made.append(f"--type-add=hearth:{glob}")
    made += ["--type=hearth"] * bool(scope.names)
    made += [f"--glob=!{glob}" for glob in scope.excluded]
    if query.regex:
        pattern = for_rust(query.text)
        made.append(f"--regexp=(?-u:\\b)(?:{pattern})(?-u:\\b)" if query.word else f"--regexp={pattern}")
    else:
        made += ["--fixed-strings", f"--regexp={query.text}"]
    return [*made, "--", "."]


class Search:
    """One run of ripgrep. Close it, or use it as a context; it ends with the budget, too."""

    def __init__(self, command: Sequence[str], folder: str, budget: Budget) -> None:
        """Raises `OSError` when the program cannot be started."""
        self.skipped: Counter[str] = Counter()
        self._budget = budget
        self._complaint = False  # about more than one file
        self._done = threading.Event()
        self._process = programs.start_reader(list(command), folder)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._count, self._guard)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._process.poll() is None:
            self._process.kill()
        for thread in self._threads:
            thread.join()
        programs.end(self._process)

    def proposals(self) -> Iterator[Proposal]:
        """Files as ripgrep finds them. Raises `Failed`."""
        pipe = self._process.stdout
        assert pipe is not None
        pending = b""
        while data := os.read(pipe.fileno(), 1 << 16):
            records, pending = _split(pending + data)
            yield from records
        self._process.wait()
        self._threads[0].join()
        # 1: nothing was found; 2: some files could not be read, or nothing could be done at all.
        status = self._process.returncode
        if self._budget.stopped is None and (status not in (0, 1, 2) or (status == 2 and self._complaint)):
            raise Failed

    def _guard(self) -> None:
        # The reader waits for the pipe alone; this ends the program when time is up or the caller took the call back.
        while not self._done.wait(0.05):
            try:
                allowed = self._budget.allows()
            except HearthError:
                allowed = False
            if not allowed:
                self._process.kill()
                return

    def _count(self) -> None:
        pipe: IO[bytes] | None = self._process.stderr
        assert pipe is not None
        for line in pipe:
            if b"ignoring " in line:
                self.skipped[_reason(line)] += not _is_asked_for(line)
            elif b"(os error " in line:
                self.skipped["permission" if line.rstrip().endswith((b"error 13)", b"error 5)")) else "unreadable"] += 1
            elif not line.startswith(b"rg: DEBUG"):
                self._complaint = True


_REASONS = (
    (b"IgnoreMatch(Hidden", "hidden"),
    (b"IgnoreMatch(", "ignored"),
    (b"found binary data", "binary"),
    (b"is_symlink: true", "link"),
    (b"haystack filter", "special"),
    (b" bytes", "too_large"),
)


def _reason(line: bytes) -> str:
    return next((reason for mark, reason in _REASONS if mark in line), "ignored")


def _is_asked_for(line: bytes) -> bool:
    """Whether a file was left out because the call's own globs and types say so."""
    return b"IgnoreMatch(Types" in line or (b"IgnoreMatch(Override" in line and b'original: "!.git"' not in line)


def _split(data: bytes) -> tuple[list[Proposal], bytes]:
    """Records of `path NUL line : offset : text newline`, and what does not end yet. A path may hold newlines."""
    made, position = [], 0
    while (nul := data.find(b"\0", position)) >= 0 and (end := data.find(b"\n", nul)) >= 0:
        line, _, rest = data[nul + 1 : end].partition(b":")
        offset = rest.partition(b":")[0]
        if line.isdigit() and offset.isdigit():
            made.append(Proposal(_parts(data[position:nul]), int(line), int(offset)))
        position = end + 1
    return made, data[position:]


def _parts(path: bytes) -> tuple[str, ...]:
    text = os.fsdecode(path)
    if os.sep != "/":
        text = text.replace(os.sep, "/")
    return tuple(part for part in text.split("/") if part != ".")
