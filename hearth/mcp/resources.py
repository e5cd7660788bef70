"""Artifacts as resources: `hearth://artifact/{id}`."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, BlobResourceContents, ReadResourceResult, TextResourceContents

from hearth import artifacts
from hearth.errors import HearthError, NotFound
from hearth.mcp.envelope import SCHEME

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.runtime import Runtime

MAX_BYTES = 1024 * 1024
TEXTS = frozenset(("application/json", "application/xml", "application/toml", "application/yaml"))


async def read(app: App, uri: str, conversation: str) -> ReadResourceResult:
    """The whole content of an artifact of at most 1 MiB, for a conversation. Raises `MCPError`."""
    if not uri.startswith(SCHEME):
        raise MCPError(INVALID_PARAMS, "resource not found", {"uri": uri[:200]})
    try:
        result: ReadResourceResult = await app.aside(
            lambda: _read(app.runtime.for_call(conversation=conversation), uri)
        )
        return result
    except NotFound:
        raise MCPError(INVALID_PARAMS, "resource not found", {"uri": uri[:200]}) from None
    except HearthError as error:
        raise MCPError(INTERNAL_ERROR, error.message, {"code": error.code}) from None


def _read(runtime: Runtime, uri: str) -> ReadResourceResult:
    artifact = artifacts.get(runtime, uri.removeprefix(SCHEME))
    if artifact.size > MAX_BYTES:
        raise MCPError(
            INVALID_PARAMS,
            f"it has {artifact.size:,} bytes; read parts of it with the tool artifact",
            {"uri": uri, "size": artifact.size},
        )
    data = b"".join(artifacts.verified(runtime, artifact))
    text = _text(data) if artifact.media_type.startswith("text/") or artifact.media_type in TEXTS else None
    if text is not None:
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=artifact.media_type, text=text)])
    blob = b64encode(data).decode("ascii")
    return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type=artifact.media_type, blob=blob)])


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
