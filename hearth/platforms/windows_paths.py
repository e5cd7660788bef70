"""Paths and names of Windows as text. Nothing here touches a file, so every system can run it."""

from __future__ import annotations

import re

from hearth.errors import InvalidName

_VOLUME = r"\\\\\?\\Volume\{[0-9a-f-]{36}\}"
_DRIVE = r"[a-z]:"
_SHARE = r"\\\\[^\\?.][^\\]*\\[^\\]+"
_ANCHOR = re.compile(rf"({_VOLUME}|{_DRIVE}|{_SHARE})(?:\\+|$)", re.IGNORECASE)
_VERBATIM_SHARE = re.compile(r"\\\\\?\\UNC\\", re.IGNORECASE)
_VERBATIM_DRIVE = re.compile(r"\\\\\?\\(?=[a-z]:(?:\\|$))", re.IGNORECASE)
_UNMAKEABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_SEPARATES = re.compile(r"[:/\\\x00]")


def absolute(path: str, base: str) -> str:
    """`path` seen from the absolute `base`, in its plain spelling: back slashes, no `\\\\?\\`, no `.` and `..`, a
    capital drive letter. A path that starts with one slash is taken on the base's drive or share. Raises
    `InvalidName` for `C:x`, whose meaning hangs on a hidden directory of that drive, and for device paths."""
    spelled = plain(path)
    if anchor_of(spelled):
        return _joined(*parts(spelled))
    if spelled.startswith(("\\\\", "\\??\\")):
        raise InvalidName(f"{path!r} names a device, or a share without its name", path=path)
    if re.match(r"[a-z]:", spelled, re.IGNORECASE):
        raise InvalidName(f"{path!r} depends on the drive's current directory; write {path[:2]}\\...", path=path)
    anchor, start = parts(plain(base))
    return _joined(anchor, (*(() if spelled.startswith("\\") else start), *_components(spelled)))


def plain(path: str) -> str:
    """With back slashes, and without the `\\\\?\\` of an extended-length path to a drive or a share."""
    spelled = path.replace("/", "\\")
    return _VERBATIM_SHARE.sub(r"\\\\", _VERBATIM_DRIVE.sub("", spelled, 1), 1)


def extended(path: str) -> str:
    """The spelling of an absolute path that knows no limit of 260 characters and no device names."""
    spelled = plain(path)
    if spelled.startswith("\\\\?\\"):
        return spelled
    return f"\\\\?\\UNC\\{spelled[2:]}" if spelled.startswith("\\\\") else f"\\\\?\\{spelled}"


def anchor_of(path: str) -> str:
    """`C:\\`, `\\\\server\\share\\` or `\\\\?\\Volume{...}\\`, or nothing when the path is not absolute."""
    found = _ANCHOR.match(path)
    if found is None or (found[0][1:] == ":" and len(path) == 2):
        return ""
    return f"{found[1].upper() if found[1][1:] == ':' else found[1]}\\"


def parts(path: str) -> tuple[str, tuple[str, ...]]:
    """The anchor and the components of a path, as they are written."""
    spelled = plain(path)
    found = _ANCHOR.match(spelled)
    return anchor_of(spelled), _components(spelled[found.end() :] if found else spelled)


def _components(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("\\") if part)


def _joined(anchor: str, components: tuple[str, ...]) -> str:
    kept: list[str] = []
    for part in components:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    return anchor + "\\".join(kept)


def join(directory: str, name: str) -> str:
    return f"{directory}{name}" if directory.endswith("\\") else f"{directory}\\{name}"


def same_name(one: str, other: str) -> bool:
    """Whether NTFS takes two names for one: each character in its capital form, none expanded."""
    return one == other or folded(one) == folded(other)


def folded(name: str) -> str:
    return name.upper() if name.isascii() else "".join(map(_capital, name))


def _capital(character: str) -> str:
    capital = character.upper() if len(character.upper()) == 1 else character.title()
    # Only pairs: NTFS takes neither a dotless i for an I nor a micro sign for a mu, and knows nothing beyond U+FFFF.
    paired = len(capital) == 1 and capital.lower() == character and character <= "\uffff"
    return capital if paired else character


def refuse_name(name: str) -> None:
    """Raise `InvalidName` for a component that Windows cannot make, or would make under another name."""
    if found := _UNMAKEABLE.search(name):
        raise InvalidName(f"Windows allows no {found[0]!r} in a name", name=name)
    if not name or name.endswith((".", " ")):
        raise InvalidName("Windows drops dots and spaces at the end of a name", name=name)


def refuse_path(name: str) -> None:
    """Raise `InvalidName` for what is no single component: separators, a stream, NUL, `..`."""
    if name in ("", "..") or _SEPARATES.search(name):
        raise InvalidName(f"{name!r} is no single name", name=name)
