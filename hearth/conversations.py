"""Which conversation a call belongs to, and whose work it gets to see.

A conversation is known by a fingerprint of what named it; that itself is stored nowhere. A call that nothing names
gets a handle of its own, 128 random bits: what it leaves is in no list but the handle's, and known to whom its id
was told.
"""

from __future__ import annotations

import os
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from hearth.settings import Isolation

if TYPE_CHECKING:
    from hearth.runtime import Runtime

MAX_LENGTH = 4_096


class Kind(StrEnum):
    """What named a conversation."""

    OPENAI = "openai"  # the session that ChatGPT tells of
    LOCAL = "local"  # a name that a client or a person chose
    SESSION = "session"  # of a connection of the protocol's older kind
    STDIO = "stdio"  # the process at the other end of the pipes
    HANDLE = "handle"  # minted for a call that nothing named


# Whose conversation is over when their process is, so that an id is all that is left to find it by.
_BY_ID = (f"{Kind.HANDLE}:", f"{Kind.STDIO}:")


@lru_cache(1_024)
def fingerprint(kind: Kind, name: str) -> str:
    """The key of a conversation: its kind, and the SHA-256 of its kind and name."""
    import hashlib

    text = f"hearth-conversation\0{kind}\0{name}".encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.sha256(text).hexdigest()}"


def new_handle() -> str:
    return f"conv_{os.urandom(16).hex()}"


def named(name: str) -> str:
    """The key of the conversation with this name, which may be a handle."""
    is_handle = name.startswith("conv_") and _is_hex(name[5:], 32)
    return fingerprint(Kind.HANDLE if is_handle else Kind.LOCAL, name)


def at_shell(word: str | None) -> str | None:
    """The key that a person means, by a name or by the key itself as lists show it."""
    if word is None:
        return None
    kind, _, digest = word.partition(":")
    return word if kind in frozenset(Kind) and _is_hex(digest, 64) else named(word)


def _is_hex(text: str, length: int) -> bool:
    return len(text) == length and not set(text) - set("0123456789abcdef")


def kind_of(key: str) -> Kind:
    return Kind(key.partition(":")[0])


def own(runtime: Runtime) -> str | None:
    """The conversation whose work is all that the caller gets to see; None: all work."""
    from hearth.runtime import Caller

    if runtime.caller is not Caller.MCP or runtime.settings.isolation is Isolation.NONE:
        return None
    return runtime.conversation


def sees(runtime: Runtime, owner: str | None) -> bool:
    """Whether the caller, who knows its id, gets to see work of `owner`: its own, what is in no conversation, and what
    only a handle or the client of some pipes has. A shell sees all."""
    mine = own(runtime)
    return mine is None or owner is None or owner == mine or owner.startswith(_BY_ID)


def lists(runtime: Runtime, owner: str | None) -> bool:
    """Whether work of `owner` is in the caller's lists: its own alone. A shell's lists have all."""
    mine = own(runtime)
    return mine is None or owner == mine
