"""The facts about what a program printed, as an answer tells them."""

from __future__ import annotations

from typing import Annotated

from hearth.content.printed import Note
from hearth.model import Help, model


@model
class Output:
    """The facts about one output."""

    size_bytes: Annotated[int, Help("All that was printed, in bytes.")]
    encoding: Annotated[str | None, Help("How the text was read; null for what is no text.")]
    encoding_note: Annotated[Note | None, Help("Why the text is not exactly what was printed.")] = None
    artifact: Annotated[str | None, Help("The artifact that holds the exact bytes, where the text does not.")] = None
    sha256: Annotated[str | None, Help("SHA-256 of what the artifact holds.")] = None
    tail: Annotated[str | None, Help("The end of long output, of which the text is only the beginning.")] = None
    truncated: Annotated[bool, Help("Whether the artifact lacks what came after max_artifact_bytes.")] = False
