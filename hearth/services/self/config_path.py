"""The files that settings are read from."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration


@model
class ShowPaths:
    pass


@model
class SettingFile:
    layer: Annotated[str, Help("`user`, `project`, or `config` for the one that HEARTH_CONFIG or --config names.")]
    path: Annotated[str, Help("The file.")]
    exists: Annotated[bool, Help("Whether it is there.")]
    trusted: Annotated[bool, Help("Whether it may do more than narrow.")]


@model
class SettingFiles:
    """The files, the last one going before the others."""

    state: State = State.COMPLETED
    files: Annotated[
        tuple[SettingFile, ...], Items(columns=("layer", "path", "exists", "trusted")), Help("One row a file.")
    ]
    data_dir: Annotated[str, Help("The data directory.")]
    data_dir_origin: Annotated[str, Help("What chose it.")]


def paths(runtime: Runtime, given: ShowPaths) -> SettingFiles:  # noqa: ARG001
    """Never fails."""
    config = configuration(runtime)
    return SettingFiles(
        files=tuple(
            SettingFile(layer=each.layer, path=each.path, exists=each.exists, trusted=each.trusted)
            for each in config.sources
        ),
        data_dir=config.data_dir,
        data_dir_origin=config.data_dir_origin,
    )
