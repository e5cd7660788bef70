"""Globs as regular expressions of Python, written so that no glob can make one slow.

`*` and `?` stay within one path component, `**` crosses them, `[a-z]`, `[!a-z]` and `{a,b}` mean what they do in
shells. Whatever stands between two stars is matched at its first place and never reconsidered (an atomic group):
a later star takes up the difference, so the first place is as good as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hearth.errors import InvalidPattern

MAX_ALTERNATIVES = 256


class Globs:
    """Which relative paths a list of globs selects. A glob that starts with `!` takes out what it matches; a glob
    without a slash is matched against the name alone, at any depth."""

    def __init__(self, patterns: Iterable[str], *, case_sensitive: bool = True) -> None:
        flags = 0 if case_sensitive else re.IGNORECASE
        patterns = tuple(patterns)
        self._wanted = [compile_glob(each, flags) for each in patterns if not each.startswith("!")]
        self._unwanted = [compile_glob(each[1:], flags) for each in patterns if each.startswith("!")]

    def __bool__(self) -> bool:
        return bool(self._wanted or self._unwanted)

    def select(self, path: str) -> bool:
        """Whether a relative path, written with slashes, is selected."""
        if any(pattern.match(path) for pattern in self._unwanted):
            return False
        return not self._wanted or any(pattern.match(path) for pattern in self._wanted)

    def prune(self, path: str) -> bool:
        """Whether a directory, and so everything below it, is taken out."""
        return any(pattern.match(path) for pattern in self._unwanted)


def compile_glob(glob: str, flags: int = 0) -> re.Pattern[str]:
    """The expression that matches the relative paths of one glob. Raises `InvalidPattern`."""
    anywhere = "/" not in glob.rstrip("/")
    alternatives = [translate(each.strip("/")) for each in expand_braces(glob)]
    body = "|".join(alternatives)
    return re.compile(f"(?s:{'(?:.*/)?' if anywhere else ''}(?:{body}))\\Z", flags)


def expand_braces(glob: str) -> list[str]:
    """The globs without braces that one with braces stands for. Raises `InvalidPattern`."""
    pieces, position = [""], 0
    while position < len(glob):
        character = glob[position]
        if character == "{":
            end, choices = _choices(glob, position)
            pieces = [piece + choice for piece in pieces for choice in choices]
            position = end
        else:
            if character == "}":
                raise _wrong(glob, position, "a } without its {")
            width = _plain_width(glob, position)
            pieces = [piece + glob[position : position + width] for piece in pieces]
            position += width
        if len(pieces) > MAX_ALTERNATIVES:
            raise _wrong(glob, position, f"more than {MAX_ALTERNATIVES} alternatives")
    return pieces


def _choices(glob: str, start: int) -> tuple[int, list[str]]:
    """Where a group ends, and what it offers."""
    depth, position, begun, parts = 0, start, start + 1, []
    while position < len(glob):
        character = glob[position]
        if character == "{":
            depth += 1
        elif character == "," and depth == 1:
            parts.append(glob[begun:position])
            begun = position + 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                parts.append(glob[begun:position])
                return position + 1, [one for part in parts for one in expand_braces(part)]
        position += 1 if character in "{}" else _plain_width(glob, position)
        if depth > 8:
            raise _wrong(glob, position, "braces are nested too deep")
    raise _wrong(glob, start, "a { without its }")


def _plain_width(glob: str, position: int) -> int:
    """The width of what stands at a position: a character, an escape or a whole class."""
    if glob[position] == "\\":
        return 2
    return _class_end(glob, position) - position if glob[position] == "[" else 1


def _class_end(glob: str, start: int) -> int:
    position = start + 1
    if glob[position : position + 1] in ("!", "^"):
        position += 1
    position = glob.find("]", position + 1)  # a ] that stands first belongs to the class
    if position < 0:
        raise _wrong(glob, start, "a [ without its ]")
    return position + 1


def translate(glob: str) -> str:
    """The expression of a glob without braces, for a whole relative path. Raises `InvalidPattern`."""
    made: list[str] = []
    runs: list[list[str]] = [[]]
    for component in glob.split("/"):
        if component == "**":
            runs.append([])
        else:
            runs[-1].append(_component(component, glob))
    last = len(runs) - 1
    for number, run in enumerate(runs):
        text = "/".join(run)
        if number == 0:
            made.append(text + ("/" if run and last else ""))
        elif number == last:
            made.append(f"(?:[^/]+/)*{text}" if run else ".+")
        elif run:
            made.append(f"(?>(?:[^/]+/)*?{text}/)")
    return "".join(made)


def _component(component: str, glob: str) -> str:
    """One component: its parts between stars, all but the last in atomic groups."""
    parts: list[list[str]] = [[]]
    position = 0
    while position < len(component):
        character = component[position]
        width = _plain_width(component, position)
        if character == "*":
            if parts[-1] or len(parts) == 1:
                parts.append([])
        elif character == "?":
            parts[-1].append("[^/]")
        elif character == "[":
            parts[-1].append(_class(component[position : position + width], glob))
        else:
            parts[-1].append(re.escape(component[position : position + width].removeprefix("\\") or "\\"))
        position += width
    texts = ["".join(part) for part in parts]
    if len(texts) == 1:
        return texts[0]
    middle = "".join(f"(?>[^/]*?{text})" for text in texts[1:-1])
    return f"{texts[0]}{middle}[^/]*{texts[-1]}"


def _class(text: str, glob: str) -> str:
    inside = text[1:-1]
    negated = inside[:1] in ("!", "^")
    body = re.sub(r"([\[\]&~|]|--)", r"\\\1", inside[negated:].replace("\\", "\\\\"))
    made = f"[^/{body}]" if negated else f"(?!/)[{body}]"
    try:
        re.compile(made)
    except re.error as error:
        raise _wrong(glob, glob.find(text), f"{text} is no class: {error.msg}") from None
    return made


def _wrong(glob: str, position: int, why: str) -> InvalidPattern:
    return InvalidPattern(f"the glob {glob!r} is wrong at {position}: {why}", pattern=glob, position=position)
