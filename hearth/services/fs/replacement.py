"""Replacing words in a text: literally, or by a regular expression of linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hearth.content.text import LineEnds
from hearth.errors import Conflict, InvalidPattern, RegexEngineMissing, invalid
from hearth.services.fs.folded import Edit, Folded, common_length, end_near, field_of, fold_blanks, fold_line_ends

MAX_TOLD = 10  # matches that a conflict lists
_LINE_END = re.compile("\r\n|\n")
_TEMPLATE = re.compile(r"\\(?:([0-9])|g<(\w+)>|([nrt\\])|.?)", re.DOTALL)


class Wanted(NamedTuple):
    """One replacement. `expected` is how many matches there must be, 0 for any number but none.

    `exact` takes line ends as they are given; otherwise a line end in `old` matches any, and `new` gets the file's.
    `loose` takes any run of blanks for any other.
    """

    old: str
    new: str
    expected: int = 1
    regex: bool = False
    exact: bool = False
    loose: bool = False


def edits_of(text: str, ends: LineEnds, wanted: Wanted, where: str) -> list[Edit]:
    """The edits that a replacement means. `where` names its field in messages, as `replacements.0`; it may be empty.

    Raises `Conflict` unless it matches as often as it should, `InvalidPattern`, `InvalidInput`,
    `RegexEngineMissing`.
    """
    if ends is LineEnds.NONE and "\r\n" in wanted.new:
        ends = LineEnds.CRLF  # one line takes the line ends of the words
    if wanted.exact:
        folded, wanted_here = Folded(text), wanted
    else:
        folded = (fold_blanks if wanted.loose else fold_line_ends)(text, ends)
        wanted_here = wanted._replace(old=_plain(wanted.old, ends), new=_plain(wanted.new, ends))
    spans = list(_spans(folded.text, wanted_here, ends, where))
    _check_count(text, ends, folded, wanted, spans, where)
    if wanted.exact:
        return spans
    if wanted.loose:
        return [_loose_edit(text, ends, folded, span, wanted) for span in spans]
    if ends is LineEnds.MIXED:
        return [_mixed_edit(text, folded, span) for span in spans]
    if ends in (LineEnds.LF, LineEnds.NONE):
        return spans
    end, exact = ends.characters, folded.exact
    return [Edit(exact(start), exact(last), new.replace("\n", end)) for start, last, new in spans]


def _plain(words: str, ends: LineEnds) -> str:
    return words.replace("\r\n", "\n").replace("\r", "\n") if ends is LineEnds.CR else words.replace("\r\n", "\n")


def _spans(text: str, wanted: Wanted, ends: LineEnds, where: str) -> Iterator[Edit]:
    if wanted.regex:
        yield from _regex_spans(text, wanted, where)
        return
    old = fold_blanks(wanted.old, ends).text if wanted.loose else wanted.old
    if not old:
        raise invalid(field_of(where, "old"), "too_short", "must hold more than blanks")
    at = text.find(old)
    while at >= 0:
        yield Edit(at, at + len(old), wanted.new)
        at = text.find(old, at + len(old))


def _regex_spans(text: str, wanted: Wanted, where: str) -> Iterator[Edit]:
    pattern = _compiled(wanted.old, where)
    pieces = list(_template(wanted.new, pattern, where))
    last = -1
    for found in pattern.finditer(text):
        if found.end() == last == found.start():
            continue  # an empty match right behind the one before
        last = found.end()
        new = "".join(piece if isinstance(piece, str) else found.group(piece[0]) or "" for piece in pieces)
        yield Edit(found.start(), found.end(), new)


def _compiled(pattern: str, where: str) -> Any:
    try:
        import re2
    except ImportError:
        raise RegexEngineMissing("regular expressions need google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        # A file is lines: ^ and $ mean theirs, as in sed.
        return re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise InvalidPattern(f"{field_of(where, 'old')}: {reason}", field=field_of(where, "old")) from None


def _template(new: str, pattern: Any, where: str) -> Iterator[str | tuple[int | str]]:
    """The text and the groups (as tuples) that a template is made of."""
    last = 0
    known = {*range(pattern.groups + 1), *pattern.groupindex}
    for found in _TEMPLATE.finditer(new):
        yield new[last : found.start()]
        last = found.end()
        number, name, control = found.groups()
        if control:
            yield {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[control]
            continue
        group: int | str = int(number or name) if (number or name or "").isdecimal() else name
        if group not in known:
            message = f"{found[0]!r} is no group of the pattern; \\\\ is a backslash"
            raise invalid(field_of(where, "new"), "wrong_form", message)
        yield (group,)
    yield new[last:]


def _check_count(text: str, ends: LineEnds, folded: Folded, wanted: Wanted, spans: list[Edit], where: str) -> None:
    if not spans:
        from hearth.services.fs.nearest import no_match

        raise no_match(text if wanted.loose else folded.text, ends, wanted, where)
    if not wanted.expected:
        return
    overlapping = 0 if wanted.regex else _count_overlapping(folded.text, spans)
    if len(spans) == wanted.expected and not overlapping:
        return
    lines = [folded.text.count("\n", 0, span.start) + 1 for span in spans[:MAX_TOLD]]
    shown = ", ".join(map(str, lines)) + (", ..." if len(spans) > len(lines) else "")
    found = len(spans) + overlapping
    raise Conflict(
        f"{field_of(where, 'old')} matches {found:,} times where {wanted.expected:,} were expected (lines {shown})",
        hint="add text around it until it is unique, or say how many with count (0: all)",
        field=field_of(where, "old"),
        found=found,
        expected=wanted.expected,
        lines=lines,
    )


def _count_overlapping(text: str, spans: list[Edit]) -> int:
    """Further matches that begin inside a match, as `aa` in `aaa`: which one is meant is not certain."""
    old = text[spans[0].start : spans[0].end]
    return sum(text.find(old, span.start + 1, span.end + len(old) - 1) >= 0 for span in spans[:1000])


def _mixed_edit(text: str, folded: Folded, span: Edit) -> Edit:
    """Only what differs between old and new is touched; its lines keep their ends, in their order."""
    old = folded.text[span.start : span.end]
    before, behind = _common(old, span.new)
    start, end = folded.exact(span.start + before), folded.exact(span.end - behind)
    new = span.new[before : len(span.new) - behind]
    return Edit(start, end, _with_ends(new, text, start, end, LineEnds.MIXED))


def _loose_edit(text: str, ends: LineEnds, folded: Folded, span: Edit, wanted: Wanted) -> Edit:
    """The whole match; the blanks around it belong to it where `old` begins or ends with blanks."""
    blank_first, blank_last = wanted.old[0].isspace(), wanted.old[-1].isspace() and wanted.old[-1] not in "\r\n"
    first = span.start - (blank_first and folded.text[max(span.start - 1, 0) : span.start] == " ")
    last = span.end + (blank_last and folded.text[span.end : span.end + 1] == " ")
    start, end = folded.exact(first, late=not blank_first), folded.exact(last, late=blank_last)
    return Edit(start, end, _with_ends(span.new, text, start, end, ends))


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters the two share at the beginning and, beyond those, at the end."""
    most = min(len(old), len(new))
    before = common_length(old[:most], new[:most])
    return before, common_length(old[before:][::-1], new[before:][::-1])


def _with_ends(new: str, text: str, start: int, end: int, ends: LineEnds) -> str:
    if "\n" not in new or ends in (LineEnds.LF, LineEnds.NONE):
        return new
    if ends is not LineEnds.MIXED:
        return new.replace("\n", ends.characters)
    replaced = _LINE_END.findall(text, start, end)
    other = replaced[-1] if replaced else end_near(text, start, end, ends)
    lines = new.split("\n")
    kept = [*replaced, *[other] * len(lines)][: len(lines) - 1]
    return "".join(part for line, its_end in zip(lines, [*kept, ""], strict=True) for part in (line, its_end))
