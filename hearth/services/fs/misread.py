"""Words that match nowhere as they were given, but would after a usual mistake is undone."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBER = r"(?m)^ *[0-9]{1,9}(?:\t|[:|\u2192] ?)"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


def hint(text: str, old: str, new: str) -> str | None:
    """What was probably done wrong with `old`, if undoing it makes it match; or that `new` stands there already.
    Line ends of all are LF."""
    for meant, sentence in _readings(old):
        if meant and meant != old and meant in text:
            return sentence
    if len(new) > 3 and new in text:
        line = text.count("\n", 0, text.index(new)) + 1
        return f"new stands there already, at line {line:,}: the change may have been made before"
    return None


def _readings(old: str) -> Iterator[tuple[str, str]]:
    if "\\" in old:
        unescaped = re.sub(r"\\([ntr\"'\\])", lambda found: _ESCAPES[found[1]], old)
        yield unescaped, "old holds a backslash and a letter where the file has the character that they stand for"
    lines = old.split("\n")
    if all(re.match(_NUMBER, line) for line in lines if line):
        yield re.sub(_NUMBER, "", old), "old begins its lines with line numbers, which the file does not hold"
    if "&" in old:
        from html import unescape

        yield unescape(old), "old is escaped as in HTML, the file is not"
    if old[:1] in ("+", "-") and all(line[:1] in ("+", "-", " ") for line in lines if line):
        yield "\n".join(line[1:] for line in lines), "old begins its lines as a diff does; pass a diff as diff"
    yield old.strip("\n"), "old has empty lines before or behind that the file does not have there"
