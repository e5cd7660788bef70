"""Requests that come again: what changes something is done once, and answered as often as it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from hearth import conversations
from hearth.mcp.envelope import Reply
from hearth.mcp.retries import Key, begin, end
from hearth.runtime import Runtime
from hearth.store.futures import Owner
from hearth.store.requests import KEPT_MS, KEPT_OF_ONE
from tests.mcp.conftest import Wire, opened
from tests.mcp.test_calls import arrived, client, held_up

pytestmark = pytest.mark.anyio
ME = Owner(1, "me", "boot")


def line(data: str = "line\n") -> dict[str, Any]:
    return {"path": "log", "data": data, "append": True}


async def test_a_write_that_comes_again_is_answered_and_not_done_again(wire: Wire, work: Path) -> None:
    call = client(wire)
    first = await call("fs", "write", request="r1", **line())
    again = await call("fs", "write", request="r1", **line())
    assert again == first
    assert (work / "log").read_text("utf-8") == "line\n"
    await call("fs", "write", request="r2", **line())
    assert (work / "log").read_text("utf-8") == "line\nline\n", "another request is another"


async def test_it_is_answered_from_the_database_after_a_restart(runtime: Runtime, work: Path) -> None:
    async with opened(runtime) as wire:
        first = await client(wire)("fs", "write", request="r1", **line())
    async with opened(runtime) as wire:
        assert await client(wire)("fs", "write", request="r1", **line()) == first
        other = await client(wire)("fs", "write", request="r1", **line("other\n"))
        assert other["error"]["code"] == "request_id_reused"
        assert await client(wire)("fs", "write", request="r1", **line()) == first, "whose answer is kept"
    assert (work / "log").read_text("utf-8") == "line\n"


async def test_one_that_comes_while_the_first_runs_joins_it(wire: Wire, tmp_path: Path) -> None:
    call = client(wire)
    gate = tmp_path / "gate"
    answers: list[Any] = []

    async def run() -> None:
        answers.append(await call("machine", "exec", request="r1", **held_up(gate)))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        group.start_soon(run)
        await call("machine", "host_info")
        gate.touch()
    assert answers[0] == answers[1]
    assert answers[0]["state"] == "completed"


async def test_one_that_was_answered_pending_has_the_same_future_then_its_answer(wire: Wire, tmp_path: Path) -> None:
    call = client(wire)
    gate = tmp_path / "gate"
    first = await call("machine", "exec", request="r1", wait_ms=20, **held_up(gate))
    again = await call("machine", "exec", request="r1", wait_ms=20, **held_up(gate))
    assert first["future_id"] == again["future_id"]
    gate.touch()
    assert [item["id"] for item in await arrived(call)] == [first["future_id"]]
    assert (await call("machine", "exec", request="r1", **held_up(gate)))["state"] == "completed"


async def test_one_key_for_two_requests_is_refused(wire: Wire, work: Path) -> None:
    call = client(wire)
    await call("fs", "write", request="r1", **line())
    refused = await call("fs", "write", request="r1", **line("other\n"))
    assert (refused["state"], refused["error"]["code"]) == ("blocked", "request_id_reused")
    assert (await call("fs", "read", request="r1", path="log"))["error"]["code"] == "request_id_reused"
    assert (work / "log").read_text("utf-8") == "line\n"


async def test_the_same_key_in_another_conversation_is_another_request(wire: Wire, work: Path) -> None:
    for conversation in ("mine", "other"):
        await client(wire, conversation)("fs", "write", request="r1", **line())
    for _ in range(2):
        await client(wire, None)("fs", "write", request="r1", **line())
    assert (work / "log").read_text("utf-8") == "line\n" * 4, "what nothing names has no requests"


async def test_a_read_that_comes_again_reads_again(wire: Wire, work: Path) -> None:
    call = client(wire)
    (work / "a").write_text("1", "utf-8")
    assert (await call("fs", "read", request="r1", path="a"))["data"] == "1"
    (work / "a").write_text("2", "utf-8")
    assert (await call("fs", "read", request="r1", path="a"))["data"] == "2"


async def test_ids_of_json_rpc_do_not_count(wire: Wire, work: Path) -> None:
    call = client(wire)
    for _ in range(2):
        await call("fs", "write", **line())
    assert (work / "log").read_text("utf-8") == "line\n" * 2, "both had the same id there"


async def test_arrivals_of_a_retry_are_those_of_its_first_try(wire: Wire) -> None:
    call = client(wire)
    number = 0
    with anyio.fail_after(4):
        await call("machine", "host_info", detach=True, request="r0")
        while not (told := list(call.told)):
            number += 1
            await call("machine", "host_info", request=f"r{number}")
    again = await call("machine", "host_info", request=f"r{number}", **({"detach": True} if number == 0 else {}))
    assert again["arrivals"][:1] == told
    # What was detached once more, by the repetition of the first call, may be new there.
    later = (await call("machine", "host_info", request="another"))["arrivals"]
    assert told[0] not in later


async def test_the_header_names_a_request_as_well(wire: Wire, work: Path) -> None:
    params = {"name": "fs", "arguments": {"operation": "write", **line(), "conversation": "mine"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    for number in range(2):
        message["id"] = number
        await wire.post(message, {"MCP-Protocol-Version": "2025-06-18", "X-Request-Id": "r1"})
    assert (work / "log").read_text("utf-8") == "line\n"


KEY = Key(conversations.named("mine"), "key", "digest")
REPLY = Reply('{"state":"completed"}', {"state": "completed"})


def test_one_whose_server_died_before_it_answered_is_not_done_again(runtime: Runtime) -> None:
    from hearth.errors import Interrupted

    assert begin(runtime, ME, KEY) is None
    with pytest.raises(Interrupted):
        begin(runtime, ME._replace(pid=2), KEY)


def test_an_answer_is_kept_for_ten_minutes(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    assert begin(runtime, ME, KEY) is None
    with runtime.store.write() as tx:
        end(tx, KEY, REPLY, runtime.now())
    assert begin(runtime, ME, KEY) == REPLY
    now_ms = runtime.clock.now_ms()
    monkeypatch.setattr(runtime.clock, "now_ms", lambda: now_ms + KEPT_MS)
    assert begin(runtime, ME, KEY) is None


def test_the_last_256_requests_of_a_conversation_are_kept(runtime: Runtime) -> None:
    for number in range(KEPT_OF_ONE + 4):
        key = KEY._replace(id=str(number))
        assert begin(runtime, ME, key) is None
        with runtime.store.write() as tx:
            end(tx, key, REPLY, runtime.now())
    with runtime.store.read() as view:
        assert view.execute("SELECT count(*) FROM requests").fetchone()[0] <= KEPT_OF_ONE + 1
