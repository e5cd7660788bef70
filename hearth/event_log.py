"""Turns a call into an event that may be kept: no content, no secrets, bounded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from hearth.errors import DatabaseBusy, HearthError
from hearth.fields import Field, fields_of
from hearth.model import Content
from hearth.plain import plain, readable
from hearth.runtime import Caller, Runtime
from hearth.secrets import is_secret_name, redact, redact_command

if TYPE_CHECKING:
    from hearth.answers import Answer
    from hearth.store.database import Store
    from hearth.store.events import Row

MAX_TEXT = 200
MAX_NAMES = 64
MAX_LIST = 2_048  # characters of JSON; of a longer list only the length and a digest are kept
# Another number than events.TEND_EVERY, so that reads and writes in turn do not miss it for ever.
TEND_EVERY = 61
OPEN_WAIT_MS = 50  # opening a database that others start to use at the same time may have to wait a moment
LONG_LIVED = (Caller.BATCH, Caller.MCP)


def record(runtime: Runtime, given: Any, answer: Answer, *, is_read: bool) -> None:
    """Store the event of a call. Of a read it never waits: the process's queue takes it, or, where the process
    ends with the call, a busy database drops it."""
    from hearth.store.database import BUSY_TIMEOUT_MS

    row = row_of(runtime, given, answer)
    if is_read:
        _record_read(runtime, row)
    elif (newest := _insert(runtime, runtime.store, row, wait_ms=BUSY_TIMEOUT_MS)) % TEND_EVERY == 0:
        _tend(runtime, newest // TEND_EVERY)


def _record_read(runtime: Runtime, row: Row) -> None:
    from hearth.store.database import count_dropped

    try:
        store = runtime.opener.get(runtime, wait_ms=OPEN_WAIT_MS)
        if runtime.caller in LONG_LIVED:
            store.event_queue(runtime.settings.retention).put(row)
        else:
            _insert(runtime, store, row, wait_ms=0)
    except DatabaseBusy:
        count_dropped(runtime.data_dir, 1)


def _insert(runtime: Runtime, store: Store, row: Row, *, wait_ms: int) -> int:
    from hearth.store import events

    with store.write(wait_ms=wait_ms) as tx:
        newest = events.insert(tx, [row])
        events.tend(tx, newest, 1, runtime.settings.retention, runtime.clock.now_ms())
    return newest


def _tend(runtime: Runtime, number: int) -> None:
    from hearth.store.retention import Retention, tend

    keep, now_ms = runtime.settings.retention, runtime.clock.now_ms()
    with suppress(HearthError, OSError):  # `hearth gc` would tell; the call that happens to do this must not fail
        tend(Retention(runtime.host, runtime.store, runtime.data_dir, keep, now_ms), number=number)


def row_of(runtime: Runtime, given: Any, answer: Answer) -> Row:
    """The event's columns."""
    return {
        "at": runtime.now(),
        "operation": answer.operation,
        "entity": _entity(given, answer.result),
        "caller": (runtime.via or runtime.caller).value,
        "run": _named(runtime.group),
        "conversation": _named(runtime.conversation),
        "state": answer.state.value,
        "error": answer.error.code if answer.error else None,
        "duration_ms": answer.duration_ms,
        "data": json.dumps(describe(given), separators=(",", ":")),
    }


def _named(key: str | None) -> str | None:
    return redact(readable(key)) if key else None


def _entity(given: Any, result: Any) -> str | None:
    """What the call was about: the receipt that it left, the path, the artifact, or the schedule."""
    places = ((result, "receipt"), (result, "path"), (given, "path"), (result, "artifact"), (result, "schedule"))
    for holder, name in (*places, (result, "id")):
        found = getattr(holder, name, None)
        found = getattr(found, "id", found)
        if isinstance(found, str):
            return readable(_shortened(found))
    return None


def describe(given: Any) -> dict[str, Any]:
    """The fields of an input that differ from their defaults, fit to be kept."""
    made = {}
    for name, default, fit in _recipe(type(given)):
        value = getattr(given, name)
        if value is not None and value != default:
            made[name] = fit(value)
    if "args" in made and isinstance(command := getattr(given, "command", None), str):
        made["args"] = _bounded(redact_command((command, *given.args))[1:], given.args)
    return made


def _recipe(model: type) -> tuple[tuple[str, Any, Callable[[Any], Any]], ...]:
    known = _RECIPES.get(model)
    if known is None:
        fields = fields_of(model)
        known = _RECIPES[model] = tuple((field.attribute, field.default, _fitting(field)) for field in fields)
    return known


_RECIPES: dict[type, tuple[tuple[str, Any, Callable[[Any], Any]], ...]] = {}


def _fitting(field: Field) -> Callable[[Any], Any]:
    if field.find(Content) or is_secret_name(field.name):
        return _digest
    if field.mapping:
        return _digests
    if field.many:
        fit = describe if field.is_model else _scalar
        return lambda values: _bounded([fit(value) for value in values[:MAX_NAMES]], values)
    if field.is_model:
        return describe
    return _scalar


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return _shortened(value) if isinstance(value, str) else value


def _shortened(text: str) -> str:
    # Redacted before it is cut: half a token would no longer look like one.
    return redact(text[: 16 * MAX_TEXT])[:MAX_TEXT]


def _digest(value: Any) -> dict[str, Any]:
    import hashlib

    text = value if isinstance(value, str) else json.dumps(plain(value), sort_keys=True)
    data = text.encode("utf-8", "surrogatepass")
    return {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _digests(values: dict[str, Any]) -> dict[str, Any]:
    return {_shortened(name): _digest(value) for name, value in list(values.items())[:MAX_NAMES]}


def _bounded(made: list[Any], values: Sequence[Any]) -> Any:
    """The items where they are few and short."""
    if len(values) > MAX_NAMES:
        return _digest_of_many(values)
    made = [_shortened(each) if isinstance(each, str) else each for each in made]
    return made if len(json.dumps(made)) <= MAX_LIST else _digest_of_many(values)


def _digest_of_many(values: Sequence[Any]) -> dict[str, Any]:
    return {**_digest(values), "length": len(values)}
