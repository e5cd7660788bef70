"""Reads the settings, layer upon layer; a later layer wins, key by key.

Without files and `HEARTH_*` variables this costs a few system calls: what reads and checks is imported only when
there is something to read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hearth.settings import JOB_VARIABLE, LogLevel, RootSetting, Settings

if TYPE_CHECKING:
    from hearth.configuration.layers import Problem
    from hearth.platforms.base import Host

FILE_NAME = "hearth.toml"
PREFIX = "HEARTH_"
CONFIG_VARIABLE = "HEARTH_CONFIG"
NO_SETTINGS = (CONFIG_VARIABLE, JOB_VARIABLE)
DATA_DIRECTORY = ".hearth"  # beside a project's file


class Source:
    """A file that settings may stand in."""

    __slots__ = ("exists", "layer", "path", "trusted")

    def __init__(self, layer: str, path: str, *, exists: bool, trusted: bool = True) -> None:
        self.layer = layer  # "user", "project" or "config"
        self.path = path
        self.exists = exists
        self.trusted = trusted


class Flags:
    """What the command line says about settings."""

    __slots__ = ("config", "data_dir", "roots", "verbose")

    def __init__(
        self,
        *,
        config: str | None = None,
        data_dir: str | None = None,
        roots: tuple[str, ...] = (),
        verbose: bool = False,
    ) -> None:
        self.config = config
        self.data_dir = data_dir
        self.roots = roots
        self.verbose = verbose


class Configuration:
    """The settings and how they came about."""

    __slots__ = (
        "data_dir", "data_dir_origin", "environ", "flags", "here", "host", "ignored", "origins", "problems", "settings",
        "sources", "unknown_variables",
    )  # fmt: skip

    def __init__(
        self, host: Host, environ: Mapping[str, str], here: str, flags: Flags, sources: tuple[Source, ...]
    ) -> None:
        self.host = host
        self.environ = environ
        self.here = here
        self.flags = flags
        self.sources = sources
        self.settings = Settings()
        self.origins: dict[str, str] = {}  # by dotted key: a file, a variable or a flag; absent: the default
        self.problems: tuple[Problem, ...] = ()
        self.ignored: tuple[tuple[str, str], ...] = ()  # file and key, of settings that need trust
        self.unknown_variables: tuple[str, ...] = ()
        self.data_dir = ""
        self.data_dir_origin = "default"

    def source(self, layer: str) -> Source | None:
        return next((source for source in self.sources if source.layer == layer), None)


def load(host: Host, environ: Mapping[str, str], here: str, flags: Flags) -> Configuration:
    """All layers, merged. What is wrong in them is collected in `problems`, not raised."""
    made = Configuration(host, environ, here, flags, _sources(host, environ, here, flags))
    variables = [name for name in environ if name.startswith(PREFIX) and name not in NO_SETTINGS]
    layered: dict[str, Any] = {}
    if variables or any(source.exists or source.layer == "config" for source in made.sources):
        from hearth.configuration.layers import merge

        layered = merge(made, variables)
    layered |= _from_flags(made)
    made.settings = Settings(**layered)
    made.data_dir, made.data_dir_origin = _data_directory(made)
    return made


def user_directory(host: Host) -> str:
    """Where the user's own settings and the records of trust lie."""
    return os.path.join(host.user_config_directory(), "hearth")


def _sources(host: Host, environ: Mapping[str, str], here: str, flags: Flags) -> tuple[Source, ...]:
    if flags.config:
        return (_source("config", host.absolute(flags.config, here)),)
    user = _source("user", os.path.join(user_directory(host), FILE_NAME))
    found = [user]
    project = project_file(here)
    if project is not None and project != user.path:
        found.append(Source("project", project, exists=True, trusted=False))
    if named := environ.get(CONFIG_VARIABLE):
        found.append(_source("config", host.absolute(named, here)))
    return tuple(found)


def _source(layer: str, path: str) -> Source:
    return Source(layer, path, exists=os.path.exists(path))


def project_file(here: str) -> str | None:
    """The nearest `hearth.toml`, upwards from `here`."""
    directory = here
    while True:
        path = os.path.join(directory, FILE_NAME)
        if os.path.isfile(path):
            return path
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above


def _from_flags(made: Configuration) -> dict[str, Any]:
    flags = made.flags
    given: dict[str, Any] = {}
    if flags.data_dir:
        given["data_dir"] = place(made.host, flags.data_dir, made.here)
    if flags.roots:
        given["roots"] = tuple(RootSetting(path=place(made.host, path, made.here)) for path in flags.roots)
    if flags.verbose:
        given["log"] = LogLevel.DEBUG
    names = {"data_dir": "--data-dir", "roots": "--root", "log": "--verbose"}
    made.origins |= {key: names[key] for key in given}
    return given


def place(host: Host, path: str, base: str) -> str:
    """A directory that a setting names, absolute: seen from `base`, with `~` for the home, file URIs decoded."""
    if path[:5].lower() == "file:":
        from hearth.containment import decode_uri

        path = decode_uri(path, windows=host.name == "windows")
    if path[:1] == "~":
        path = os.path.expanduser(path)
    return host.absolute(path, base)


def _data_directory(made: Configuration) -> tuple[str, str]:
    """Setting, else `.hearth` beside the project's file, else the user's. One that came with a project nobody trusts,
    or a link in its place, is left alone: its receipts could undo things that were never done here."""
    if made.settings.data_dir is not None:
        return made.settings.data_dir, made.origins["data_dir"]
    project = made.source("project")
    if project is not None:
        beside = os.path.join(os.path.dirname(project.path), DATA_DIRECTORY)
        if project.trusted or not os.path.lexists(beside) or _was_made_here(made.host, beside):
            return beside, project.path
        made.ignored += ((project.path, DATA_DIRECTORY),)
    return os.path.join(made.host.user_data_directory(), "hearth"), "default"


def _was_made_here(host: Host, directory: str) -> bool:
    from hearth.configuration.trust import is_made_here

    return not os.path.islink(directory) and is_made_here(host, directory)


def note_new_data_directory(made: Configuration) -> None:
    """Remember that the data directory beside an untrusted project's file is about to be made by hearth itself."""
    project = made.source("project")
    if project is not None and not project.trusted and made.data_dir_origin == project.path:
        from hearth.configuration.trust import note_made_here

        note_made_here(made.host, made.data_dir)
