"""Let a project's settings file do more than narrow."""

from __future__ import annotations

from typing import Annotated

from hearth.configuration import read, trust
from hearth.configuration.edit import reload
from hearth.configuration.load import Configuration
from hearth.errors import NotFound
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration


@model
class TrustProject:
    path: Annotated[
        str | None,
        Len(1, 32_767),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("The file; without it the nearest hearth.toml."),
    ] = None
    revoke: Annotated[bool, Help("Take the trust back.")] = False


@model
class ProjectTrust:
    """Trust holds for this path and this content; a change of the file ends it."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The file.")]
    trusted: Annotated[bool, Help("Whether it is trusted now.")]
    sha256: Annotated[str | None, Help("The content that is trusted.")]
    settings: Annotated[tuple[str, ...], Help("The settings that this puts in force.")] = ()


def trust_project(runtime: Runtime, given: TrustProject) -> ProjectTrust:
    """Raises `NotFound`, `SettingError` for a file that cannot be read, `Locked`."""
    config = configuration(runtime)
    path = _path(config, given.path)
    if given.revoke:
        if not trust.revoke(config.host, path):
            raise NotFound(f"{path} was not trusted", path=path)
        return ProjectTrust(path=path, trusted=False, sha256=None)
    with read.named(path):
        content = read.content(path)
    trust.trust(config.host, path, content)
    waiting = tuple(key for where, key in config.ignored if where == path)
    still = {key for _, key in reload(config).ignored}
    return ProjectTrust(
        path=path,
        trusted=True,
        sha256=trust.digest(content),
        settings=tuple(key for key in waiting if key not in still),
    )


def _path(config: Configuration, given: str | None) -> str:
    if given is not None:
        return config.host.absolute(given, config.here)
    project = config.source("project")
    if project is None:
        raise NotFound(
            "there is no hearth.toml here or above", hint="`hearth config set KEY VALUE --project` makes one"
        )
    return project.path
