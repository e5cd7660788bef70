"""Reads unified diffs: what GNU diff, git, svn, difflib and people write. Strict about what would change a file.

The form: https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html, with the headers of git's
extended form: https://git-scm.com/docs/diff-format#generate_patch_text_with_p.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hearth.errors import InvalidInput, invalid

MAX_FILES = 128
MAX_HUNKS = 10_000
NOWHERE = "/dev/null"
_HUNK = re.compile(r"@@ -([0-9]{1,12})(?:,([0-9]{1,12}))? \+([0-9]{1,12})(?:,([0-9]{1,12}))? @@", re.ASCII)
_HEADERS = ("old mode ", "new mode ", "deleted file mode ", "new file mode ", "rename from ", "rename to ")
_ESCAPED = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_CONTROLS = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


class Line(NamedTuple):
    """A line of a hunk: " ", "-" or "+", and its text with the line end (a CR is the text's) that it has."""

    tag: str
    text: str


class Hunk(NamedTuple):
    """One change: where it starts in the old file, how many lines of that it covers, and its own lines. `at` is
    its place in the diff."""

    start: int
    length: int
    lines: list[Line]
    at: int

    @property
    def first(self) -> int:
        """The index of the first line that it is about; it adds lines before that one where its length is 0."""
        return self.start - 1 if self.length else self.start

    @property
    def old(self) -> list[str]:
        return [line.text for line in self.lines if line.tag != "+"]

    @property
    def new(self) -> list[str]:
        return [line.text for line in self.lines if line.tag != "-"]


class FileDiff(NamedTuple):
    """What becomes of one file: `old` is None when it is made, `new` when it is removed; empty without a name."""

    old: str | None
    new: str | None
    hunks: list[Hunk]
    mode: int | None = None  # permission bits of what is made, or a change of them

    @property
    def name(self) -> str:
        return (self.new if self.new is not None else self.old) or ""


def parse(diff: str) -> list[FileDiff]:
    """The files of a diff. Raises `InvalidInput`, which names the line, for what is no unified diff, counts that are
    wrong, hunks that overlap, names that are absolute or climb with `..`, and binary patches."""
    lines = diff.split("\n")
    if lines[-1] == "":
        lines.pop()
    files = _Reader(lines).files()
    if not files:
        raise _wrong(0, "holds no unified diff: neither `--- `, `+++ ` and `@@ ` lines nor git's headers")
    if len(files) > MAX_FILES:
        raise _wrong(0, f"changes {len(files):,} files; at most {MAX_FILES} are taken")
    _refuse_repeats(files)
    return files


def _wrong(at: int, message: str) -> InvalidInput:
    return invalid("diff", "wrong_form", f"line {at:,} {message}" if at else message)


def _refuse_repeats(files: list[FileDiff]) -> None:
    names = [name for file in files for name in {file.old, file.new} if name]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(0, f"changes {name} more than once")


class _Reader:
    """One pass over the lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.hunk_count = 0

    def files(self) -> list[FileDiff]:
        found: list[FileDiff] = []
        while self.at < len(self.lines):
            line = self._header()
            if line.startswith("diff --git "):
                found.append(self._git_file(line))
            elif line.startswith("--- ") and self._header(1).startswith("+++ "):
                found.append(self._plain_file())
            elif _HUNK.match(line):
                if found:
                    raise _wrong(self.at + 1, "is a hunk without the names of its file")
                found.append(FileDiff("", "", self._hunks()))
            elif line.startswith("Binary files "):
                raise _wrong(self.at + 1, "is about a binary file, which a unified diff cannot hold")
            else:
                self.at += 1
        return found

    def _header(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.lines[index].removesuffix("\r") if index < len(self.lines) else ""

    def _plain_file(self) -> FileDiff:
        old, new = self._names()
        return self._made(old, new, None, None)

    def _names(self) -> tuple[str | None, str | None]:
        """The names of `---` and `+++`, without the prefixes that git gives them."""
        old, new = self._name(self._header()[4:]), self._name(self._header(1)[4:])
        self.at += 2
        if old is new is None:
            raise _wrong(self.at, f"names {NOWHERE} twice")
        if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):
            old, new = old and old[2:], new and new[2:]
        return old, new

    def _name(self, words: str) -> str | None:
        """A name without the time behind it; None for no file."""
        if words.startswith('"'):
            return self._unquoted(words[1 : words.rfind('"')])
        name = words.split("\t", 1)[0]
        return None if name == NOWHERE else name

    def _unquoted(self, words: str) -> str:
        # Octal escapes are the bytes of the name, which need not be UTF-8.
        def spelled(found: re.Match[str]) -> str:
            return _CONTROLS.get(found[1]) or bytes([int(found[1], 8) & 255]).decode("latin-1")

        if words.isascii():
            data = _ESCAPED.sub(spelled, words).encode("latin-1")
            return data.decode("utf-8", "surrogateescape")
        return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[0]), words)

    def _git_file(self, first: str) -> FileDiff:
        start = self.at
        self.at += 1
        headers: dict[str, str] = {}
        while any(self._header().startswith(key) for key in (*_HEADERS, "index ", "similarity ", "dissimilarity ")):
            key = next((key for key in _HEADERS if self._header().startswith(key)), "")
            headers[key.strip()] = self._header()[len(key) :]
            self.at += 1
        if self._header().startswith(("GIT binary patch", "Binary files ", "copy from ")):
            raise _wrong(self.at + 1, "is a binary patch or a copy, which is not supported")
        mode = self._mode(headers, start)
        if self._header().startswith("--- ") and self._header(1).startswith("+++ "):
            old, new = self._names()
        elif "rename from" in headers and "rename to" in headers:
            old, new = self._name(headers["rename from"]), self._name(headers["rename to"])
        else:
            name = self._same_name(first, start)
            old = None if "new file mode" in headers else name
            new = None if "deleted file mode" in headers else name
        return self._made(old, new, mode, headers.get("rename from"))

    def _mode(self, headers: dict[str, str], start: int) -> int | None:
        words = headers.get("new file mode") or headers.get("new mode")
        for each in (words, headers.get("deleted file mode")):
            if each is not None and not re.fullmatch("100[0-7]{3}", each):
                raise _wrong(start + 1, f"is about no regular file (mode {each})")
        return int(words[-3:], 8) if words else None

    def _same_name(self, first: str, start: int) -> str:
        """The name of `diff --git a/NAME b/NAME`."""
        words = first[len("diff --git ") :]
        half = len(words) // 2
        old, new = words[:half], words[half + 1 :]
        if words.startswith('"'):
            old, new = self._unquoted(old.strip('"')), self._unquoted(new.strip('"'))
        if old[:2] != "a/" or new[:2] != "b/" or old[2:] != new[2:]:
            raise _wrong(start + 1, "names two files without saying what becomes of them")
        return old[2:]

    def _made(self, old: str | None, new: str | None, mode: int | None, renamed: str | None) -> FileDiff:
        start = self.at
        for name in (old, new):
            if name:
                _refuse_name(name, start)
        if old and new and old != new and renamed is None:
            old = new  # `diff file.orig file`: the second is the one to change
        hunks = self._hunks()
        if not hunks and mode is None and renamed is None and old is not None and new is not None:
            raise _wrong(start, f"names {new or 'a file'} but no change follows")
        for made_or_removed, tag in ((old, "+"), (new, "-")):
            if made_or_removed is None and (len(hunks) > 1 or any(line.tag != tag for h in hunks for line in h.lines)):
                raise _wrong(
                    start, f"says that {old or new} is {'made' if tag == '+' else 'removed'}, its hunk does not"
                )
        return FileDiff(old, new, hunks, mode)

    def _hunks(self) -> list[Hunk]:
        found: list[Hunk] = []
        end = 0
        while header := _HUNK.match(self._header()):
            hunk = self._hunk(header)
            self.hunk_count += 1
            if self.hunk_count > MAX_HUNKS:
                raise _wrong(hunk.at, f"begins hunk {MAX_HUNKS + 1:,}; that many are not taken")
            if hunk.first < end:
                raise _wrong(hunk.at, "begins a hunk that overlaps the one before it or starts at line 0")
            end = hunk.first + hunk.length
            found.append(hunk)
        line = self._header()
        if found and line[:1] in ("+", "-", " ") and not self._begins_something(line):
            raise _wrong(self.at + 1, "belongs to no hunk: the counts of the hunk before it are too small")
        return found

    def _begins_something(self, line: str) -> bool:
        # git format-patch ends with a signature behind "-- ".
        return line == "-- " or (line.startswith("--- ") and self._header(1).startswith("+++ "))

    def _hunk(self, header: re.Match[str]) -> Hunk:
        at = self.at + 1
        self.at += 1
        old_left, new_left = int(header[2] or 1), int(header[4] or 1)
        hunk = Hunk(int(header[1]), old_left, [], at)
        while old_left or new_left:
            line = self._hunk_line(hunk)
            old_left -= line.tag != "+"
            new_left -= line.tag != "-"
            if old_left < 0 or new_left < 0:
                raise _wrong(self.at, f"is one too many for the counts of the hunk at line {at:,}")
            hunk.lines.append(line)
        if not any(line.tag != " " for line in hunk.lines):
            raise _wrong(at, "begins a hunk that changes nothing")
        return hunk

    def _hunk_line(self, hunk: Hunk) -> Line:
        words = self.lines[self.at] if self.at < len(self.lines) else None
        if words in ("", "\r"):
            words = f" {words}"  # editors take the blank of an empty context line away
        if words is None or words[0] not in " +-":
            raise _wrong(self.at + 1, f"ends the hunk at line {hunk.at:,}, whose counts promise more")
        self.at += 1
        if self._header().startswith("\\"):
            self.at += 1
            return Line(words[0], words[1:])
        return Line(words[0], words[1:] + "\n")


def _refuse_name(name: str, at: int) -> None:
    """A diff comes from elsewhere: it may name files below the current directory and nothing else."""
    parts = re.split(r"[/\\]", name)
    if name[0] in "/\\~" or re.match("[A-Za-z]:", name) or ".." in parts or "\0" in name:
        raise _wrong(at, f"names {name!r}, which does not lie below the current directory")
