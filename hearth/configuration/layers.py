"""Merges files and environment into one set of values, and says what is wrong in them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from hearth.configuration import keys, narrow, read
from hearth.configuration.load import Configuration, Source, place
from hearth.configuration.trust import is_trusted
from hearth.errors import SettingError
from hearth.settings import RootSetting, Settings


class Problem(NamedTuple):
    """One thing that is wrong with a layer."""

    where: str  # a file, or an environment variable
    key: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.key} {self.message}" if self.key else f"{self.where}: {self.message}"


class _Layers:
    def __init__(self, made: Configuration) -> None:
        self.made = made
        self.values: dict[str, Any] = {}
        self.problems: list[Problem] = []
        self.ignored: list[tuple[str, str]] = []

    def take(self, where: str, key: str, value: Any, base: str, *, trusted: bool = True) -> None:
        """One value of a layer, checked. `where` is its file or variable; relative paths are seen from `base`."""
        if key not in keys.fields():
            self.problems.append(Problem(where, key, *keys.unknown(key)))
            return
        if flaw := keys.check(key, value):
            self.problems.append(Problem(where, key, *flaw))
            return
        new = _placed(self.made, key, keys.typed(key, value), base)
        if not trusted:
            new = narrow.narrowed(self.made, keys.fields()[key], self._current(key), new)
            if new is None:
                self.ignored.append((where, key))
                return
        self.values[key] = new
        self.made.origins[key] = where

    def _current(self, key: str) -> Any:
        return self.values.get(key, keys.value_of(Settings(), key))


def merge(made: Configuration, variables: Iterable[str]) -> dict[str, Any]:
    """The values of all files, then of the environment, as arguments of `Settings`; what is wrong with them and what
    needs trust is noted in `made`."""
    layers = _Layers(made)
    for source in made.sources:
        if source.exists or source.layer == "config":
            _take_file(layers, source)
    made.unknown_variables = tuple(_take_variables(layers, variables))
    made.problems, made.ignored = tuple(layers.problems), tuple(layers.ignored)
    return keys.build(layers.values)


def _take_file(layers: _Layers, source: Source) -> None:
    try:
        content = read.content(source.path)
        table = read.table(source.path, content)
    except SettingError as error:
        layers.problems.append(Problem(source.path, "", error.details["reason"], error.message))
        return
    if source.layer == "project":
        source.trusted = is_trusted(layers.made.host, source.path, content)
    for key, value in keys.flat(table):
        layers.take(source.path, key, value, os.path.dirname(source.path), trusted=source.trusted)


def _take_variables(layers: _Layers, names: Iterable[str]) -> list[str]:
    known = {keys.variable(key): key for key in keys.fields()}
    unknown = []
    for name in sorted(names):
        word = layers.made.environ[name]
        if name not in known:
            unknown.append(name)
        elif word:  # set but empty means not set, as in most programs
            layers.take(name, known[name], keys.from_word(known[name], word), layers.made.here)
    return unknown


def _placed(made: Configuration, key: str, value: Any, base: str) -> Any:
    if key == "data_dir":
        return place(made.host, value, base)
    if key == "roots":
        return tuple(RootSetting(path=place(made.host, root.path, base), read_only=root.read_only) for root in value)
    return value
