"""What a search looks for: a literal or an expression of RE2's dialect, always in time linear in what is read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from hearth.errors import InvalidPattern, RegexEngineMissing


class Query(NamedTuple):
    """What to look for."""

    text: str
    regex: bool = False
    ignore_case: bool = False
    word: bool = False


class Matcher(Protocol):
    engine: str

    def find(self, data: bytes, start: int) -> int | None:
        """Where, at or behind `start`, a line that may match has its match; every line that matches is found."""

    def in_line(self, line: bytes) -> tuple[int, int] | None:
        """The first match in one line without its end."""

    def spans(self, line: bytes) -> Iterator[tuple[int, int]]:
        """The matches in one line without its end, none in another; of empty ones only one at its first place."""


def matcher(query: Query) -> Matcher:
    """The matcher of a query. Raises `InvalidPattern`, and `RegexEngineMissing` where only RE2 would do."""
    needs_engine = query.regex or (query.ignore_case and not query.text.isascii())
    if not needs_engine:
        return _Literal(query)
    try:
        import re2
    except ImportError:
        raise RegexEngineMissing("google-re2 is not installed, so only literals can be searched") from None
    return _Expression(query, re2)


def quick_matcher(query: Query) -> Matcher:
    """The same for much data: without regard to case RE2, where it is installed, is ten times as fast."""
    if query.ignore_case and not query.word:
        with contextlib.suppress(ImportError):
            import re2

            return _Expression(query, re2)
    return matcher(query)


def check(pattern: str) -> None:
    """Raise `InvalidPattern` for what is no expression."""
    matcher(Query(pattern, regex=True))


class _Literal:
    """A literal by Python's own search, which never goes back over a literal."""

    engine = "literal"

    def __init__(self, query: Query) -> None:
        self._word = query.word
        self._bytes = query.text.encode("utf-8", "surrogateescape")
        self._pattern = re.compile(re.escape(self._bytes), re.IGNORECASE if query.ignore_case else 0)
        self._folds = query.ignore_case

    def find(self, data: bytes, start: int) -> int | None:
        if self._folds:
            found = self._pattern.search(data, start)
            return found.start() if found else None
        at = data.find(self._bytes, start)
        return None if at < 0 else at

    def in_line(self, line: bytes) -> tuple[int, int] | None:
        return next(self.spans(line), None)

    def spans(self, line: bytes) -> Iterator[tuple[int, int]]:
        for found in self._pattern.finditer(line):
            if not self._word or _is_apart(line, *found.span()):
                yield found.span()


def _is_apart(line: bytes, start: int, end: int) -> bool:
    return not (_is_word(line[start - 1 : start] if start else b"") or _is_word(line[end : end + 1]))


def _is_word(byte: bytes) -> bool:
    # Bytes of other scripts' letters count as letters, so that "caf" is no word of "café".
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


class _Expression:
    """An expression by RE2."""

    engine = "re2"

    def __init__(self, query: Query, re2: Any) -> None:
        text = query.text if query.regex else re2.escape(query.text)
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not query.ignore_case
        self._line = _compiled(re2, text, options, word=query.word)
        # The same for a block of many lines: ends of lines for the ends of text, a CR before one allowed.
        self._block = re2.compile(_whole(f"(?m:{for_blocks(text)})", word=query.word), options=options)

    def find(self, data: bytes, start: int) -> int | None:
        found = self._block.search(data, start)
        return found.start() if found else None

    def in_line(self, line: bytes) -> tuple[int, int] | None:
        found = self._line.search(line)
        return found.span() if found else None

    def spans(self, line: bytes) -> Iterator[tuple[int, int]]:
        for found in self._line.finditer(line):
            yield found.span()
            if found.start() == found.end():
                return  # an expression that matches nothing matches it everywhere


def _whole(pattern: str, *, word: bool) -> str:
    return rf"\b(?:{pattern})\b" if word else pattern


def _compiled(re2: Any, text: str, options: Any, *, word: bool) -> Any:
    try:
        re2.compile(text, options=options)
        return re2.compile(_whole(text, word=word), options=options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        message, _, fragment = reason.partition(": ")
        position = text.find(fragment) if fragment else -1
        where = f" at {position}" if position >= 0 else ""
        raise InvalidPattern(
            f"the expression {text!r} is wrong{where}: {reason}",
            hint="the dialect is RE2's: no look-around, no back-references",
            pattern=text,
            position=max(position, 0),
            reason=message,
        ) from None


_TOKEN = re.compile(
    r"""\\Q(?P<quoted>.*?)(?:\\E|\Z)
    |\\(?P<octal>[0-7]{2,3}|0)
    |(?P<escape>\\(?:[pPx]\{[^}]*\}|x[0-9A-Fa-f]{2}|.))
    |(?P<set>\[\^?\]?(?:\[:\^?[a-z]+:\]|\\(?:[pPx]\{[^}]*\}|.)|[^\]\\])*\])
    |(?P<repeat>\{[0-9]+(?:,[0-9]*)?\})
    |(?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)


def _tokens(pattern: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(pattern):
        kind = found.lastgroup
        assert kind is not None
        yield kind, found[kind]


def for_blocks(pattern: str) -> str:
    """The expression with `$`, `\\z` and `\\A` as ends and starts of lines, when it stands in `(?m:...)`."""
    if not any(sign in pattern for sign in ("$", "\\z", "\\A")):
        return pattern
    made = []
    for kind, text in _tokens(pattern):
        if kind == "quoted":
            made.append(f"\\Q{text}\\E")
        elif kind == "octal":
            made.append(f"\\{text}")
        elif (kind, text) in (("plain", "$"), ("escape", "\\z")):
            made.append("(?:\\r?$)")
        else:
            made.append("^" if (kind, text) == ("escape", "\\A") else text)
    return "".join(made)


_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_SIGNS = frozenset(r"\.+*?()|[]{}^$#&-~/")


def for_rust(pattern: str) -> str:
    """The expression in the dialect of ripgrep, whose classes know more letters and whose sets have operators."""
    return "".join(_rust_token(kind, text) for kind, text in _tokens(pattern))


def _rust_token(kind: str, text: str) -> str:
    if kind == "quoted":
        return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in text)
    if kind == "octal":
        return f"\\x{{{int(text, 8):X}}}"
    if kind == "escape":
        return _rust_escape(text)
    if kind == "set":
        return _rust_set(text)
    return "\\{" if text == "{" else text


def _rust_escape(text: str) -> str:
    letter = text[1:2]
    if letter.lower() in _CLASSES:
        return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]"
    if letter in "bB":
        return f"(?-u:{text})"
    # ripgrep takes a whole file for the text whose ends these are.
    return {"C": "(?s-u:.)", "A": "^", "z": "$"}.get(letter, text)


_IN_SET = re.compile(r"\\([dswDSW])|(\\(?:[pPx]\{[^}]*\}|.)|\[:\^?[a-z]+:\])|([\[&~])", re.DOTALL)


def _rust_set(text: str) -> str:
    start = 2 if text.startswith("[^") else 1

    def rewrite(found: re.Match[str]) -> str:
        if letter := found[1]:
            inside = _CLASSES[letter.lower()]
            return f"[^{inside}]" if letter.isupper() else inside
        return found[2] or f"\\{found[3]}"

    return text[:start] + _IN_SET.sub(rewrite, text[start:-1]) + "]"
