"""The environment that a program gets, and what of hearth's own is kept from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from hearth import secrets
from hearth.errors import InvalidInput, Problem

# What programs need to find their files, speak the user's language and write to the right place.
_MINIMAL = frozenset((
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA",
    "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
))  # fmt: skip
# Without it many programs of Windows do not start at all.
_NEEDED_ON_WINDOWS = "SYSTEMROOT"


# Every program that one starts has the marks of all that started it, so that each finds its own.
MARK = "_HEARTH_PROGRAM"


class EnvPolicy(StrEnum):
    """Which of hearth's own variables a program gets."""

    INHERIT = "inherit"  # all but secrets
    MINIMAL = "minimal"  # the few that programs need to work
    EXPLICIT = "explicit"  # none; only what the call names


class Variables(NamedTuple):
    """A program's environment, and the names that were kept from it."""

    values: dict[str, str]
    withheld: tuple[str, ...]


def check_names(given: Mapping[str, str]) -> None:
    """Raise `InvalidInput` for names and values that no environment can hold."""
    problems = [
        Problem(f"env.{name}", "wrong_form", "a name must not be empty or hold = or NUL, a value no NUL")
        for name, value in given.items()
        if not name or "=" in name or "\0" in name or "\0" in value
    ]
    if problems:
        raise InvalidInput(*problems)


def variables(
    policy: EnvPolicy,
    inherited: Mapping[str, str],
    given: Mapping[str, str],
    *,
    allowed: Iterable[str] = (),
    windows: bool = False,
) -> Variables:
    """What a program gets. What the call names wins; what `allowed` names is no secret."""
    open_names = {*allowed, *given}
    wanted = {name: value for name, value in inherited.items() if _is_wanted(policy, name, windows=windows)}
    withheld = sorted(name for name, value in wanted.items() if name not in open_names and is_secret(name, value))
    for name in withheld:
        del wanted[name]
    if windows:  # its names have no case
        given = {name.upper(): value for name, value in given.items()}
    return Variables({**wanted, **given}, tuple(withheld))


def _is_wanted(policy: EnvPolicy, name: str, *, windows: bool) -> bool:
    if policy is EnvPolicy.INHERIT:
        return True
    if policy is EnvPolicy.EXPLICIT:
        return windows and name.upper() == _NEEDED_ON_WINDOWS
    return name.upper() in _MINIMAL or name.startswith("LC_")


@lru_cache(maxsize=1_024)
def is_secret(name: str, value: str) -> bool:
    """Whether a variable holds a secret, by its name or by the look of its value."""
    return bool(value) and (secrets.is_secret_name(name) or bool(secrets.find(value)))
