"""Calls that take longer than they are held: pending answers, futures, and what arrives of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from hearth import conversations
from hearth.mcp.pool import Limits
from hearth.runtime import Runtime
from hearth.store import arrivals
from hearth.store import conversations as rows
from hearth.store.arrivals import Kind
from tests.mcp.conftest import Wire, opened

pytestmark = pytest.mark.anyio
MINE = conversations.named("mine")
UNTIL = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\nprint('over')"


class Client:
    """Calls of one conversation, and what arrived with their answers; `request` names a request."""

    def __init__(self, wire: Wire, meta: dict[str, str]) -> None:
        self._wire = wire
        self._meta = meta
        self.told: list[dict[str, Any]] = []

    async def __call__(self, tool: str, operation: str, *, request: str | None = None, **arguments: Any) -> Any:
        meta = self._meta | ({"hearth/request": request} if request else {})
        params = {"name": tool, "arguments": {"operation": operation, **arguments}, "_meta": meta}
        answer = (await self._wire.modern("tools/call", params, tool)).json["result"]["structuredContent"]
        self.told += answer["arrivals"]
        return answer


def client(wire: Wire, conversation: str | None = "mine", kind: str = "hearth/conversation") -> Client:
    return Client(wire, {kind: conversation} if conversation else {})


def held_up(gate: Path, *more: str) -> dict[str, Any]:
    """A program that ends once there is a file `gate`."""
    return {"command": sys.executable, "args": ["-c", UNTIL, str(gate), *more]}


async def arrived(call: Client, number: int = 1) -> list[dict[str, Any]]:
    """The next that its answers told of, perhaps already that which said pending."""
    with anyio.fail_after(4):
        while len(call.told) < number:
            await call("machine", "host_info")
    found, call.told = call.told[:number], call.told[number:]
    return found


async def test_a_slow_call_answers_pending_and_its_result_arrives(wire: Wire, tmp_path: Path) -> None:
    call = client(wire)
    gate = tmp_path / "gate"
    pending = await call("machine", "exec", **held_up(gate), wait_ms=20)
    assert pending["state"] == "pending"
    gate.touch()
    (item,) = await arrived(call)
    assert (item["seq"], item["kind"], item["id"], item["state"]) == (1, "future", pending["future_id"], "completed")
    assert item["summary"]["operation"] == "machine.exec"
    assert item["summary"]["result"]["stdout"].strip() == "over"


async def test_a_call_within_its_time_leaves_nothing_behind(wire: Wire, runtime: Runtime) -> None:
    call = client(wire)
    for _ in range(3):
        answer = await call("machine", "exec", command=sys.executable, args=["-c", ""])
        assert (answer["state"], answer["arrivals"]) == ("completed", [])
    with runtime.store.read() as view:
        assert view.execute("SELECT count(*) FROM futures").fetchone()[0] == 0
        assert view.execute("SELECT count(*) FROM conversations").fetchone()[0] == 0


async def test_detach_answers_pending_at_once_and_the_next_turn_delivers(wire: Wire) -> None:
    call = client(wire)
    pending = await call("machine", "host_info", detach=True)
    assert pending["state"] == "pending"
    (item,) = await arrived(call)
    assert item["id"] == pending["future_id"]
    assert item["summary"]["result"]["hostname"]


async def test_arrivals_come_in_the_order_of_their_ends(wire: Wire, tmp_path: Path) -> None:
    call, other = client(wire), client(wire, "other")
    first, second = tmp_path / "first", tmp_path / "second"
    ids = [(await call("machine", "exec", **held_up(gate), wait_ms=0))["future_id"] for gate in (first, second)]
    second.touch()
    (item,) = await arrived(call)
    assert item["id"] == ids[1]
    first.touch()
    (item,) = await arrived(call)
    assert (item["id"], item["seq"]) == (ids[0], 2)
    assert (await other("machine", "host_info"))["arrivals"] == [], "another conversation is told nothing"


async def test_chatgpt_is_answered_sooner_than_others(wire: Wire, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    call = client(wire, "session", "openai/session")
    pending = await call("machine", "exec", **held_up(gate))
    assert pending["state"] == "pending"
    gate.touch()
    assert (await arrived(call))[0]["id"] == pending["future_id"]


async def test_an_anonymous_call_gets_a_handle_by_which_its_result_arrives(wire: Wire, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    nobody = client(wire, None)
    pending = await nobody("machine", "exec", **held_up(gate), wait_ms=0)
    gate.touch()
    (item,) = await arrived(client(wire, pending["conversation"]))
    assert item["id"] == pending["future_id"]
    assert (await nobody("machine", "host_info"))["arrivals"] == []


async def test_no_name_of_a_conversation_is_stored(wire: Wire, runtime: Runtime) -> None:
    name = "a-name-that-nobody-else-has"
    call = client(wire, name)
    await call("machine", "host_info", detach=True, request="a-request-that-nobody-else-sends")
    await call("fs", "write", path="a.txt", data="x", request="a-request-that-nobody-else-sends-2")
    for file in Path(runtime.data_dir).rglob("*"):
        if file.is_file() and file.parent.name != "bells":
            content = file.read_bytes()
            assert name.encode() not in content, file
            assert b"that-nobody-else-sends" not in content, file


async def test_what_waits_stops_no_short_call(runtime: Runtime, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with opened(runtime, limits=Limits(threads=4, for_short=1, of_one=4)) as wire:
        call, other = client(wire), client(wire, "other")
        for _ in range(9):
            assert (await call("machine", "exec", **held_up(gate), detach=True))["state"] == "pending"
        for _ in range(3):
            assert (await call("machine", "host_info"))["state"] == "completed"
            assert (await other("machine", "host_info"))["state"] == "completed"
        gate.touch()
        assert len(await arrived(call, 9)) == 9


async def test_a_conversation_with_many_calls_keeps_no_other_from_its_turn(runtime: Runtime, tmp_path: Path) -> None:
    gate, go = tmp_path / "gate", tmp_path / "go"
    go.touch()
    async with opened(runtime, limits=Limits(threads=4, for_short=1, of_one=2)) as wire:
        call, other = client(wire), client(wire, "other")
        for _ in range(9):
            await call("machine", "exec", **held_up(gate), detach=True)
        assert (await other("machine", "exec", **held_up(go)))["state"] == "completed"
        gate.touch()
        assert len(await arrived(call, 9)) == 9


async def test_one_conversation_cannot_queue_without_end(runtime: Runtime, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with opened(runtime, limits=Limits(threads=4, for_short=1, of_one=1, waiting_of_one=3)) as wire:
        call = client(wire)
        for _ in range(4):
            assert (await call("machine", "exec", **held_up(gate), detach=True))["state"] == "pending"
        refused = await call("machine", "exec", **held_up(gate), detach=True)
        assert (refused["state"], refused["error"]["code"]) == ("blocked", "too_many_calls")
        gate.touch()
        assert len(await arrived(call, 4)) == 4


async def test_the_cursor_of_a_conversation_is_stored(wire: Wire, runtime: Runtime) -> None:
    call = client(wire)
    await call("machine", "host_info", detach=True)
    (item,) = await arrived(call)
    await call("machine", "host_info", ack=item["seq"])
    with runtime.store.read() as view:
        assert [each.acked for each in rows.newest_first(view, most=9)] == [1]


async def test_a_large_result_is_told_without_its_large_parts_and_read_whole(wire: Wire, work: Path) -> None:
    call = client(wire)
    text = "ä€😀" * 2_000
    (work / "large.txt").write_text(text, "utf-8")
    pending = await call("fs", "read", path="large.txt", detach=True)
    (first,) = await arrived(call)
    await call("machine", "host_info", detach=True)
    (second,) = await arrived(call)
    assert first["id"] == pending["future_id"]
    assert len(json.dumps(first, ensure_ascii=False).encode()) < 8 * 1024
    assert first["summary"]["result"]["omitted"] == ["data"]
    assert second["summary"]["operation"] == "machine.host_info"
    whole = (await call("task", "get", id=pending["future_id"]))["future"]["result"]
    assert whole["data"] == text[: len(whole["data"])] != ""


async def test_what_arrives_has_room_in_the_largest_answer(wire: Wire, runtime: Runtime, work: Path) -> None:
    call = client(wire)
    (work / "large.txt").write_text('line "quoted"\n' * 10_000, "utf-8")
    await call("machine", "host_info")
    with runtime.store.write() as tx:
        for number in range(20):
            summary = {"text": "x" * 1_000}
            now = runtime.now()
            arrivals.insert(tx, MINE, at=now, kind=Kind.JOB, id_=f"job_{number}", state="completed", summary=summary)
    runtime.host.ring(runtime.bells)
    seqs: list[int] = []
    with anyio.fail_after(4):
        while len(seqs) < 20:
            answer = await call("fs", "read", path="large.txt")
            seqs += [item["seq"] for item in answer["arrivals"]]
            assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) <= 24 * 1024
            assert answer["data"]
    assert seqs == list(range(1, 21))


async def test_a_job_that_another_one_blocks_arrives_without_having_run(wire: Wire) -> None:
    call = client(wire)
    first = (await call("task", "submit", command=sys.executable, args=["-c", ""], delay_ms=600_000))["jobs"][0]["id"]
    after = {"job": first, "on": "success"}
    submitted = await call("task", "submit", command=sys.executable, args=["-c", ""], dependencies=[after])
    second = submitted["jobs"][0]["id"]
    await call("task", "cancel", ids=[first])
    told = await arrived(call, 2)
    assert [(item["id"], item["state"]) for item in told] == [(first, "cancelled"), (second, "blocked")]
    assert told[1]["summary"]["reason"] == "dependency"
