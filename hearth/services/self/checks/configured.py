"""The settings, and the roots that they give."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.configuration.layers import Problem
from hearth.configuration.load import PREFIX
from hearth.containment import Root
from hearth.roots import is_broad
from hearth.runtime import Runtime
from hearth.services.self.checks.outcome import Finding, fail, ok, warn
from hearth.services.self.configured import configuration


def settings(runtime: Runtime) -> Iterator[Finding]:
    """Is every file readable and every value right?"""
    config = configuration(runtime)
    for problem in config.problems:
        yield fail(str(problem), _mend(problem))
    for name in config.unknown_variables:
        yield warn(f"{name} sets nothing", "`hearth config show` lists every setting")
    if config.ignored:
        keys = ", ".join(key for _, key in config.ignored)
        yield warn(
            f"{config.ignored[0][0]} is not trusted, so it may not set {keys}", "`hearth config trust` allows it"
        )
    if not (config.problems or config.unknown_variables or config.ignored):
        files = [source.path for source in config.sources if source.exists]
        yield ok(f"from {', '.join(files)}" if files else "all have their defaults")


def _mend(problem: Problem) -> str:
    if problem.where.startswith(PREFIX):
        return f"correct or unset the variable {problem.where}"
    if not problem.key:
        return f"correct {problem.where}, or move it away"
    return f"correct it, or take it out with `hearth config unset {problem.key}`"


def roots(runtime: Runtime) -> Iterator[Finding]:
    """Can each root be opened? Both spellings of it are accepted, so both are shown."""
    if not runtime.roots:
        yield warn("none, so fs answers no_roots", "`hearth config roots --add PATH` adds one")
    for root in runtime.roots:
        yield _root(runtime, root)


def _root(runtime: Runtime, root: Root) -> Finding:
    real = runtime.host.real_path(root.path)
    shown = root.path + (f" (really {real})" if real != root.path else "") + (", read-only" if root.read_only else "")
    try:
        runtime.host.open_root(root.path).close()
    except OSError as error:
        return fail(f"{shown} cannot be opened: {error.strerror}", f"`hearth config roots --remove '{root.path}'`")
    configured = runtime.config is not None and runtime.config.settings.roots
    if configured and not root.read_only and is_broad(runtime.host, root.path):
        return warn(f"{shown} holds far more than one project", "name the directories that are meant instead")
    return ok(shown if configured else f"{shown}, the current directory")
