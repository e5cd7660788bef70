"""Names of users and groups, where the system has them."""

from __future__ import annotations

from functools import lru_cache

from hearth.platforms.base import Entry


def owner_names(entry: Entry) -> tuple[str | None, str | None]:
    """The names of an entry's owner and group; None where the system does not know one (or, on Windows, has no
    numbers to ask by)."""
    return name_of_user(entry.owner), _group(entry.group)


@lru_cache(maxsize=256)  # asking may mean a network directory, and a tree's entries have few owners
def name_of_user(number: int) -> str | None:
    """The name of a user of POSIX."""
    try:
        import pwd

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return None


@lru_cache(maxsize=256)
def _group(number: int) -> str | None:
    try:
        import grp

        return grp.getgrgid(number).gr_name
    except (ImportError, KeyError):
        return None
