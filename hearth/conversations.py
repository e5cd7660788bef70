"""Which conversation a call belongs to, and whose work it gets to see.

A conversation is known by a fingerprint of what named it; that itself is stored nowhere. A call that nothing names
gets a handle of its own, 128 random bits: what it leaves is in no list but the handle's, and known to whom its id
was told.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum
from typing import TYPE_CHECKING

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


_HANDLE = re.compile(r"conv_[0-9a-f]{32}")
_KEY = re.compile(rf"({'|'.join(Kind)}):[0-9a-f]{{64}}")
# Whose conversation is over when their process is, so that an id is all that is left to find it by.
_BY_ID = (f"{Kind.HANDLE}:", f"{Kind.STDIO}:")


def fingerprint(kind: Kind, name: str) -> str:
    """The key of a conversation: its kind, and the SHA-256 of its kind and name."""
    import hashlib

    text = f"hearth-conversation\0{kind}\0{name}".encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.sha256(text).hexdigest()}"


def new_handle() -> str:
    return f"conv_{os.urandom(16).hex()}"


def named(name: str) -> str:
    """The key of the conversation with this name, which may be a handle."""
    return fingerprint(Kind.HANDLE if _HANDLE.fullmatch(name) else Kind.LOCAL, name)


def at_shell(word: str | None) -> str | None:
    """The key that a person means, by a name or by the key itself as lists show it."""
    return word if word is None or _KEY.fullmatch(word) else named(word)


def kind_of(key: str) -> Kind:
    return Kind(key.partition(":")[0])


def own(runtime: Runtime) -> str | None:
    """The conversation whose work is all that the caller gets to see; None: all work."""
    from hearth.runtime import Caller

    return runtime.conversation if runtime.caller is Caller.MCP else None


def sees(runtime: Runtime, owner: str | None) -> bool:
    """Whether the caller, who knows its id, gets to see work of `owner`: its own, what is in no conversation, and what
    only a handle or the client of some pipes has. A shell sees all."""
    mine = own(runtime)
    return mine is None or owner is None or owner == mine or owner.startswith(_BY_ID)
