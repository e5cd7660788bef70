"""From an answer to what goes over the wire: the same JSON as text and as structured content, and never too much of it.

What has pages gets a shorter page; what has none goes into an artifact, all but its small parts, and a link says where.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hearth import artifacts, catalog, check
from hearth.answers import Answer
from hearth.document import document
from hearth.errors import Cancelled, HearthError, InternalError
from hearth.fields import fields_of
from hearth.model import Items, State
from hearth.operation import Effect, types_of

if TYPE_CHECKING:
    from hearth.runtime import Runtime

ERROR_BYTES = 4_096
MESSAGE_LENGTH = 1_000
CONTENT_SHARE = 0.85  # of an answer; the rest is for what JSON adds to its content
BESIDE = 16  # bytes of what is told beside every answer: that there are no arrivals
SHORTER_TRIES = 5
LEAST_CONTENT = 1_024
MAX_LINKS = 8
IMAGE_BYTES = 512 * 1024
IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
SCHEME = "hearth://artifact/"

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Reply:
    """The parts of a tool's result. `text` is `document` as JSON."""

    text: str
    document: dict[str, Any]
    is_error: bool = False
    blocks: tuple[dict[str, Any], ...] = ()

    def telling(self, **more: Any) -> Reply:
        """The same with more fields."""
        document = {**self.document, **more}
        return replace(self, text=f"{self.text[:-1]},{encode(more)[1:]}", document=document)

    def result(self) -> dict[str, Any]:
        """A CallToolResult."""
        return {
            "resultType": "complete",
            "content": [{"type": "text", "text": self.text}, *self.blocks],
            "structuredContent": self.document,
            "isError": self.is_error,
        }


def content_bytes(answer_max_bytes: int, max_output_bytes: int) -> int:
    """How much content an operation may give, so that the answer around it rarely is too large."""
    return min(max_output_bytes, int(answer_max_bytes * CONTENT_SHARE))


def reply(runtime: Runtime, answer: Answer, value: dict[str, Any], room: int) -> Reply:
    """The reply that an answer makes, of at most `room` bytes. `value` is the call's input."""
    made = document(answer)
    text = encode(made)
    if answer.error is not None:
        return _failure(made, text, answer.error)
    if size(text) > room:
        answer, made, text = _shorter(runtime, answer, value, made, text, room)
    if size(text) > room:
        made = _spill(runtime, answer.operation, made, text, room)
        text = encode(made)
    return Reply(text, made, blocks=(*_links(answer.operation, made, text), *_image(runtime, answer)))


def failure(error: HearthError) -> Reply:
    """The reply of a call that did not begin."""
    made = document(Answer("", error.state, error=error))
    return _failure(made, encode(made), error)


def cancelled() -> Reply:
    """The reply of a call that was taken back before it began."""
    return failure(Cancelled("the call was cancelled"))


def _failure(made: dict[str, Any], text: str, error: HearthError) -> Reply:
    # `failed`, `conflict` and the like are outcomes, which a model reads like any other.
    is_error = made["state"] == State.BLOCKED.value or isinstance(error, InternalError)
    if size(text) > ERROR_BYTES:
        made = {**made, "error": _short_error(made["error"])}
        text = encode(made)
    return Reply(text, made, is_error=is_error)


def _short_error(error: dict[str, Any]) -> dict[str, Any]:
    """An error with as many of its details as there is room for."""
    made = {
        **error,
        "message": error["message"][:MESSAGE_LENGTH],
        "hint": (error["hint"] or "")[:MESSAGE_LENGTH] or None,
    }
    problems = error["details"].get("problems", [])
    made["details"] = {"problems": []} if problems else {}
    for problem in problems:
        longer = [*made["details"]["problems"], {name: str(text)[:200] for name, text in problem.items()}]
        if size(encode({**made, "details": {"problems": longer}})) > ERROR_BYTES - 200:
            made["details"]["more_problems"] = len(problems) - len(longer) + 1
            break
        made["details"]["problems"] = longer
    return made


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


# Shorter pages.


def _shorter(
    runtime: Runtime, answer: Answer, value: dict[str, Any], made: dict[str, Any], text: str, room: int
) -> tuple[Answer, dict[str, Any], str]:
    """Read again with smaller bounds, where the operation only reads and says where to go on."""
    family, row = catalog.find(answer.operation)
    function = family.load(row.target)
    model = types_of(function)[0]
    items = _items(answer.result)
    if row.effect is not Effect.READ or not ("next_cursor" in made or "next_offset" in made):
        return answer, made, text
    for _ in range(SHORTER_TRIES):
        share = room / size(text) * 0.9
        given = min(runtime.settings.max_output_bytes, made.get("length") or size(text))
        bound = max(LEAST_CONTENT, int(given * share))
        runtime = runtime.for_call(settings=replace(runtime.settings, max_output_bytes=bound))
        if items and made.get(items) and any(field.name == "limit" for field in fields_of(model)):
            value = {**value, "limit": max(1, int(len(made[items]) * share))}
        try:
            result = function(runtime, check.validate(model, value))
        except HearthError:
            break  # such as a file that went meanwhile: the first answer stands
        answer = replace(answer, result=result, state=result.state)
        made = document(answer)
        text = encode(made)
        if size(text) <= room:
            break
    return answer, made, text


def _items(result: Any) -> str | None:
    return next((field.name for field in fields_of(type(result)) if field.find(Items)), None)


# What has no pages.


def _spill(runtime: Runtime, operation: str, made: dict[str, Any], text: str, room: int) -> dict[str, Any]:
    """The small parts of an answer, and where all of it is."""
    kept: dict[str, Any] = {"artifact": None, "media_type": "application/json", "fields": []}
    if not operation.startswith("artifact."):
        try:
            whole = artifacts.keep(
                runtime, [text.encode()], media_type="application/json", operation=operation, label="answer"
            )
            kept |= {"artifact": whole.id, "size": whole.size, "sha256": whole.body}
        except (HearthError, OSError) as error:
            runtime.log.warning(f"{operation}: the whole answer could not be kept: {error}")
    short = {**made, "spilled": kept}
    sizes = {name: size(encode(part)) for name, part in made.items() if name not in ("version", "state")}
    left = size(encode(short))
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if left <= room:
            break
        short[name] = None
        kept["fields"].append(name)
        left = size(encode(short))
    if kept["artifact"] is None:
        short["state"] = State.PARTIAL.value
    return short


# Beside the JSON.


def _links(operation: str, made: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """Links to the artifacts that the answer names, for hosts that open them by themselves."""
    if operation.startswith("artifact.") or '"art_' not in text:
        return
    for place, id_ in enumerate(dict.fromkeys(_artifacts_in(made))):
        if place == MAX_LINKS:
            return
        yield {"type": "resource_link", "uri": SCHEME + id_, "name": id_}


def _artifacts_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _artifacts_in(each)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "artifact" and isinstance(part, str):
                yield part
            elif isinstance(part, (dict, list)):
                yield from _artifacts_in(part)


def _image(runtime: Runtime, answer: Answer) -> Iterator[dict[str, Any]]:
    """A picture as such, so that a model sees it."""
    result = answer.result
    if answer.operation != "artifact.read" or getattr(result, "media_type", None) not in IMAGES:
        return
    if (result.size or 0) > IMAGE_BYTES:
        return
    from base64 import b64encode

    try:
        data = b"".join(artifacts.verified(runtime, artifacts.get(runtime, result.id)))
    except HearthError:
        return  # the answer beside it says as much as there is to say
    yield {"type": "image", "data": b64encode(data).decode("ascii"), "mimeType": result.media_type}
