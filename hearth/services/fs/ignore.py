"""What .gitignore files leave out (gitignore(5)): the last rule that matches decides, deeper files go first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hearth.containment import Containment, Place
from hearth.errors import HearthError, InvalidPattern
from hearth.platforms.base import Directory
from hearth.services.fs.globs import translate

NAMES = (".gitignore", ".ignore")  # .ignore, of ripgrep and its relatives, goes before .gitignore
MAX_IGNORE_BYTES = 1 << 20


class Rules:
    """The rules of one file, as one expression for files and one for directories."""

    def __init__(self, text: str) -> None:
        # An alternation takes its first branch that matches, so the last rule of the file stands first.
        rules = list(_rules(text))[::-1]
        self._directories, self._kept_directories = _joined(rules)
        self._files, self._kept_files = _joined([rule for rule in rules if not rule[2]])

    def decide(self, path: str, *, is_directory: bool) -> bool | None:
        """True: ignored, False: kept by a rule with `!`, None: no rule speaks about it."""
        pattern = self._directories if is_directory else self._files
        found = pattern.match(path) if pattern else None
        if found is None:
            return None
        return found.lastindex not in (self._kept_directories if is_directory else self._kept_files)


def _joined(rules: list[tuple[str, bool, bool]]) -> tuple[re.Pattern[str] | None, frozenset[int]]:
    if not rules:
        return None, frozenset()
    kept = frozenset(number for number, (_, negated, _) in enumerate(rules, 1) if negated)
    return re.compile("|".join(f"({expression}\\Z)" for expression, _, _ in rules), re.DOTALL), kept


def _rules(text: str) -> Iterator[tuple[str, bool, bool]]:
    """(expression, negated, directories only) of each line; a line that is no pattern matches nothing, as in git."""
    for line in text.splitlines():
        rule = _without_trailing_spaces(line.rstrip("\r"))
        if not rule or rule.startswith("#"):
            continue
        negated = rule.startswith("!")
        rule = rule[1:] if negated else rule
        only_directories = rule.endswith("/")
        rule = rule.rstrip("/")
        if not rule:
            continue
        try:
            inside = translate(rule.strip("/"))
            re.compile(inside)
        except (InvalidPattern, re.error):
            continue
        yield (inside if "/" in rule else f"(?:.*/)?(?:{inside})"), negated, only_directories


def _without_trailing_spaces(line: str) -> str:
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line


class Ignore:
    """The rules that apply in one directory: its own, then those of the directories above it."""

    __slots__ = ("above", "depth", "rules")

    def __init__(self, rules: tuple[Rules, ...], above: Ignore | None, depth: int) -> None:
        self.rules = rules
        self.above = above
        self.depth = depth  # how many components of a path belong to the directories above this one

    def ignores(self, parts: tuple[str, ...], *, is_directory: bool) -> bool:
        """Whether a path is ignored. `parts` are counted from the directory of depth 0."""
        here: Ignore | None = self
        while here is not None:
            path = "/".join(parts[here.depth :])
            for rules in here.rules:
                decision = rules.decide(path, is_directory=is_directory)
                if decision is not None:
                    return decision
            here = here.above
        return False


def of_directory(directory: Directory, names: set[str], above: Ignore | None, depth: int) -> Ignore | None:
    """The rules in a directory whose names are known; `above` itself when it adds none."""
    found = [_read(directory, name) for name in reversed(NAMES) if name in names]
    if ".git" in names:
        found.append(_read_exclude(directory))
    rules = tuple(each for each in found if each is not None)
    return Ignore(rules, above, depth) if rules else above


def above_place(containment: Containment, place: Place) -> tuple[Ignore | None, tuple[str, ...]]:
    """The rules between a place's root and the directory that stands there, and the components between the two."""
    parts = _below_root(place)
    ignore: Ignore | None = None
    directory = containment.open_root(place.root)
    try:
        for depth, name in enumerate(parts):
            ignore = of_directory(directory, present(directory), ignore, depth)
            below = directory.open_directory(name)
            directory.close()
            directory = below
    except OSError:
        pass  # a part that cannot be read adds no rules
    finally:
        directory.close()
    return ignore, parts


def _below_root(place: Place) -> tuple[str, ...]:
    _, root_parts = place.host.parts(place.root.path)
    _, parts = place.host.parts(place.path)
    return parts[len(root_parts) :] if parts[: len(root_parts)] == root_parts else ()


def present(directory: Directory) -> set[str]:
    """Which of the names that hold rules stand in a directory."""
    found = set()
    for name in (*NAMES, ".git"):
        try:
            directory.entry(name)
        except OSError:
            continue
        found.add(name)
    return found


def _read(directory: Directory, name: str) -> Rules | None:
    try:
        descriptor = directory.open_file(name)
    except (OSError, HearthError):
        return None
    try:
        content = os.read(descriptor, MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return Rules(content.decode("utf-8-sig", "surrogateescape"))


def _read_exclude(directory: Directory) -> Rules | None:
    try:
        git = directory.open_directory(".git")
    except OSError:
        return None
    try:
        info = git.open_directory("info")
    except OSError:
        return None
    finally:
        git.close()
    try:
        return _read(info, "exclude")
    finally:
        info.close()
