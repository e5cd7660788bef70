"""Names of users and groups, where the system has them."""

from __future__ import annotations

from hearth.platforms.base import Entry


def owner_names(entry: Entry) -> tuple[str | None, str | None]:
    """The names of an entry's owner and group; None where the system does not know one (or, on Windows, has no
    numbers to ask by)."""
    try:
        import grp
        import pwd
    except ImportError:
        return None, None
    try:
        user: str | None = pwd.getpwuid(entry.owner).pw_name
    except KeyError:
        user = None
    try:
        return user, grp.getgrgid(entry.group).gr_name
    except KeyError:
        return user, None
