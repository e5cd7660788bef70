"""Why words were not found: the nearest text, and the exact characters that differ.

Bounded whatever the sizes: a few of the words are looked up by the C search of `str`, the places where several of
them agree are compared character by character, and the best one is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from hearth.content.text import LineEnds, describe
from hearth.errors import Conflict
from hearth.secrets import redact
from hearth.services.fs import misread
from hearth.services.fs.folded import BLANKS, common_length, field_of, fold_line_ends

MAX_ANCHORS = 24
MAX_HITS = 400  # of one anchor
MAX_PLACES = 8  # that are compared
MAX_COMPARED = 20_000  # characters of old
MAX_DIFFERENCES = 8  # that are told
MAX_SEARCHES = 40  # for where two stretches agree again, before they count as not alike
MAX_SHOWN = 2_000  # characters of the nearest text
NEARBY = 64  # characters that differences may shift a stretch by
SHORT = 12  # characters of old that have to agree more
MAX_PIECED = 2_000_000  # characters of a text in which pieces of words are looked for
RESYNC = 16  # characters within which the two texts must agree again
_WORD = r"\w{2,}|[^\w\s]{2,}|[^\W\d]"


class Difference(NamedTuple):
    """Where the file has `found` and the words have `wanted`; places are indexes into both."""

    at: int
    wanted_at: int
    found: str
    wanted: str


class Likeness(NamedTuple):
    """How a stretch of the file compares with the words."""

    start: int
    end: int
    same: int
    differences: list[Difference]


def no_match(text: str, ends: LineEnds, wanted: Any, where: str) -> Conflict:
    """The conflict of a replacement (`replacement.Wanted`) that matches nowhere in `text`, folded or not."""
    field = field_of(where, "old")
    if wanted.regex:
        return Conflict(f"{field}: the pattern matches nowhere", field=field, found=0, expected=wanted.expected)
    if wanted.exact:
        return explain(text, wanted.old, field)
    plain, old, new = fold_line_ends(text, ends).text, *(words.replace("\r\n", "\n") for words in wanted[:2])
    conflict = explain(plain, old, field, tolerant_hint=not wanted.loose)
    conflict.hint = misread.hint(plain, old, new) or conflict.hint
    return conflict


def explain(text: str, old: str, field: str, *, label: str = "", tolerant_hint: bool = False) -> Conflict:
    """The conflict that tells the text nearest to `old`, which stands in `field` of the input; `label` says what it
    is where the name of the field does not. Line ends of both are LF, unless they matter."""
    label = label or field
    best = nearest(text, old)
    if best is None:
        message = f"{label} was not found, nor anything like it"
        return Conflict(message, hint="read the file again: it may have changed", field=field, found=0)
    told = [_told(text, old, each) for each in best.differences[:MAX_DIFFERENCES]]
    only_blanks = all(_is_blank(each.found) and _is_blank(each.wanted) for each in best.differences)
    return Conflict(
        f"{label} was not found; {_summary(text, best, told)}",
        hint=_hint(only_blanks and tolerant_hint),
        field=field,
        found=0,
        nearest={
            "line": _line(text, best.start),
            "end_line": _line(text, max(best.end - 1, best.start)),
            "text": redact(text[best.start : min(best.end, best.start + MAX_SHOWN)]),
            "same_characters": best.same,
            "of_characters": len(old),
            "differences": told,
            "more_differences": max(len(best.differences) - MAX_DIFFERENCES, 0),
            "only_blanks_differ": only_blanks,
        },
    )


def _summary(text: str, best: Likeness, told: list[dict[str, Any]]) -> str:
    where = f"the nearest text is at line {_line(text, best.start):,}"
    if not told:
        return where
    first = told[0]
    place = f"line {first['line']:,}, column {first['column']:,}"
    return f"{where}, and at {place} the file has {first['found']} where {first['wanted']} was given"


def _hint(may_ignore_blanks: bool) -> str:
    if may_ignore_blanks:
        return "only blanks differ: take the file's own text (details.nearest.text), or pass ignore_whitespace"
    return "take the file's own text, which is in details.nearest.text"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _is_blank(words: str) -> bool:
    return not words or words.isspace() or not words.strip(" \t\r\n\xa0\u200b\ufeff")


def _told(text: str, old: str, difference: Difference) -> dict[str, Any]:
    line_start = text.rfind("\n", 0, difference.at) + 1
    return {
        "line": _line(text, difference.at),
        "column": difference.at - line_start + 1,
        "given_line": _line(old, difference.wanted_at),
        "found": _spelled(difference.found),
        "wanted": _spelled(difference.wanted),
    }


def _spelled(words: str) -> str:
    """Code points of what is short or cannot be seen; the words themselves where that says more."""
    if not words:
        return "nothing"
    runs = [(found[0], len(found[0])) for found in re.finditer(r"(?s)(.)\1*", words)]
    if len(runs) <= 3 and (len(words) <= 3 or _is_blank(words)):
        return ", ".join(f"{count} times {describe(run[0])}" if count > 1 else describe(run) for run, count in runs)
    return repr(redact(words[:80]))


def nearest(text: str, old: str) -> Likeness | None:
    """The stretch of `text` that is most like `old`; None when nothing is."""
    old = old[:MAX_COMPARED]
    best: Likeness | None = None
    for place, anchor in _places(text, old):
        found = _compare(text, old, place, anchor)
        if best is None or (found.same, -len(found.differences)) > (best.same, -len(best.differences)):
            best = found
        if best.same * 10 >= len(old) * 9:
            break
    if best is None:
        return None
    # A third of a few letters is soon the same by chance.
    least = 1 / 2 if len(old.strip()) <= SHORT else 1 / 3
    return best if best.same >= least * len(old.strip()) else None


def _places(text: str, old: str) -> Iterator[tuple[int, int]]:
    """Where to compare: places in the text and in `old` that hold the same word, the most promising first."""
    hits = sorted(_hits(text, _anchors(text, old))) or sorted(_hits(text.lower(), _anchors(text.lower(), old.lower())))
    if not hits and len(text) <= MAX_PIECED:
        hits = sorted(_hits(text, _pieces(text, old)))
    scored: dict[int, tuple[int, int, int]] = {}
    left = weight = 0
    for right, hit in enumerate(hits):
        weight += hit.weight
        # Blanks that differ shift what follows, so hits whose shifts are close speak for the same stretch.
        while hit.shift - hits[left].shift > NEARBY:
            weight -= hits[left].weight
            left += 1
        middle = hits[(left + right) // 2]
        stretch = middle.shift // NEARBY
        scored[stretch] = max(scored.get(stretch, (0, 0, 0)), (weight, -middle.place, middle.at))
    for _, place, at in sorted(scored.values(), reverse=True)[:MAX_PLACES]:
        yield -place, at


class Hit(NamedTuple):
    """A word of `old`, at `at`, that the text has at `place`."""

    shift: int
    place: int
    at: int
    weight: int


def _hits(text: str, anchors: list[tuple[str, int]]) -> Iterator[Hit]:
    for word, at in anchors:
        place, count = text.find(word), 0
        while place >= 0 and count < MAX_HITS:
            yield Hit(place - at, place, at, len(word))
            place, count = text.find(word, place + 1), count + 1


def _anchors(text: str, old: str) -> list[tuple[str, int]]:
    """The words of `old` that tell most, with their first places: long ones, of them the rare ones in `text`."""
    words: dict[str, int] = {}
    for found in re.finditer(_WORD, old):
        words.setdefault(found[0], found.start())
    longest = sorted(words.items(), key=lambda each: -len(each[0]))[:MAX_ANCHORS]
    counted = [(text.count(word), word, at) for word, at in longest]
    rare = [each for each in counted if 0 < each[0] <= MAX_HITS]
    return [(word, at) for _, word, at in rare or counted]


def _pieces(text: str, old: str) -> list[tuple[str, int]]:
    """Parts of the longest words, with their places: a misspelt word still holds some of them."""
    longest = sorted(re.finditer(_WORD, old), key=lambda found: found.start() - found.end())[: MAX_ANCHORS // 3]
    pieces: dict[str, int] = {}
    for found in longest:
        size = max(2, len(found[0]) // 3)
        for at in range(0, len(found[0]) - 1, 1 if size == 2 else size):
            pieces.setdefault(found[0][at : at + size], found.start() + at)
    known = [(piece, at) for piece, at in pieces.items() if len(piece) > 1 and piece in text]
    return known[:MAX_ANCHORS]


def _compare(text: str, old: str, place: int, anchor: int) -> Likeness:
    """Walk from an agreeing place both ways."""
    reach = len(old) + 4 * NEARBY
    window_start = max(place - reach, 0)
    before = _walk(text[window_start:place][::-1], old[:anchor][::-1])
    behind = _walk(text[place : place + reach], old[anchor:])
    differences = [_turned(each, place, anchor) for each in reversed(before.differences)]
    differences += [each._replace(at=place + each.at, wanted_at=anchor + each.wanted_at) for each in behind.differences]
    return Likeness(place - before.end, place + behind.end, before.same + behind.same, differences)


def _turned(each: Difference, place: int, anchor: int) -> Difference:
    """A difference that was found walking backwards from `place` and `anchor`."""
    at = place - each.at - len(each.found)
    return Difference(at, anchor - each.wanted_at - len(each.wanted), each.found[::-1], each.wanted[::-1])


def _walk(text: str, old: str) -> Likeness:
    """Compare from the beginning of both until `old` ends or they stop being alike."""
    at = wanted_at = same = searches = 0
    differences: list[Difference] = []
    while wanted_at < len(old) and searches < MAX_SEARCHES:
        run = _run(text, at, old, wanted_at)
        at, wanted_at, same = at + run, wanted_at + run, same + run
        if wanted_at == len(old):
            break
        skip, wanted_skip = _blanks(text, old, at, wanted_at) or _same_letter(text, old, at, wanted_at)
        if not skip and not wanted_skip:
            searches += 1
            skip, wanted_skip = _agreeing(text, old, at, wanted_at)
        found, wanted = text[at : at + skip], old[wanted_at : wanted_at + wanted_skip]
        if not found and not wanted:
            differences.append(Difference(at, wanted_at, text[at : at + 1], old[wanted_at : wanted_at + 1]))
            at = min(at + len(old) - wanted_at, len(text))
            break
        same += skip if found.lower() == wanted.lower() else 0
        _note(differences, Difference(at, wanted_at, found, wanted))
        at, wanted_at = at + skip, wanted_at + wanted_skip
    return Likeness(0, at, same, differences)


def _run(text: str, at: int, old: str, wanted_at: int) -> int:
    """How many characters are the same from here on; costs what it finds, not what is left."""
    run, step = 0, 16
    while True:
        one, other = text[at + run : at + run + step], old[wanted_at + run : wanted_at + run + step]
        shared = len(one) if one == other else common_length(one, other)
        run += shared
        if shared < step:
            return run
        step *= 2


def _note(differences: list[Difference], each: Difference) -> None:
    """Add a difference, or lengthen the last one when this one follows it at once."""
    last = differences[-1] if differences else None
    if last and last.at + len(last.found) == each.at and last.wanted_at + len(last.wanted) == each.wanted_at:
        differences[-1] = last._replace(found=last.found + each.found, wanted=last.wanted + each.wanted)
    else:
        differences.append(each)


def _blanks(text: str, old: str, at: int, wanted_at: int) -> tuple[int, int] | None:
    """The lengths of two runs of blanks behind which both agree."""
    blanks = len(_match_blanks(text, at)), len(_match_blanks(old, wanted_at))
    return blanks if any(blanks) and _agree(text, at + blanks[0], old, wanted_at + blanks[1], few=1) else None


def _same_letter(text: str, old: str, at: int, wanted_at: int) -> tuple[int, int]:
    return (1, 1) if text[at : at + 1].lower() == old[wanted_at].lower() else (0, 0)


def _agreeing(text: str, old: str, at: int, wanted_at: int) -> tuple[int, int]:
    """How many characters differ on both sides before the two agree again; (0, 0) when they do not."""
    for distance in range(1, 2 * RESYNC):
        for skip in range(distance + 1):
            if _agree(text, at + skip, old, wanted_at + distance - skip):
                return skip, distance - skip
    return 0, 0


def _match_blanks(words: str, at: int) -> str:
    found = _blank_pattern().match(words, at)
    return found[0] if found else ""


@cache
def _blank_pattern() -> re.Pattern[str]:
    return re.compile(f"[{BLANKS}]*")


def _agree(text: str, at: int, old: str, wanted_at: int, *, few: int = 4) -> bool:
    """Whether the next few characters are the same; at the end of `old`, fewer are enough."""
    following = old[wanted_at : wanted_at + few]
    return text.startswith(following, at) if following else wanted_at == len(old)
