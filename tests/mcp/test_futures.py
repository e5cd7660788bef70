"""Futures among the jobs: read, waited for, cancelled and listed; and what becomes of them when their server ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from hearth.engine import futures
from hearth.runtime import Caller, Runtime
from hearth.store.futures import Owner
from tests.marks import not_emulated
from tests.mcp.conftest import Wire
from tests.mcp.test_calls import arrived, client, held_up

pytestmark = pytest.mark.anyio


async def test_a_future_is_read_and_waited_for_among_the_jobs(wire: Wire, tmp_path: Path) -> None:
    call = client(wire)
    gate = tmp_path / "gate"
    id_ = (await call("machine", "exec", **held_up(gate), detach=True))["future_id"]
    assert (await call("task", "get", id=id_))["future"]["state"] in ("pending", "running")
    assert (await call("task", "wait", ids=[id_], timeout_ms=1))["state"] == "pending"
    (listed,) = (await call("task", "list"))["futures"]
    assert (listed["id"], listed["result"]) == (id_, None)
    gate.touch()
    waited = await call("task", "wait", ids=[id_])
    assert waited["state"] == "completed"
    assert waited["futures"][0]["result"]["stdout"].strip() == "over"
    assert (await call("task", "status", id=id_))["future"]["state"] == "completed"


async def test_a_running_future_is_cancelled_with_its_programs(wire: Wire, tmp_path: Path) -> None:
    call = client(wire)
    id_ = (await call("machine", "exec", **held_up(tmp_path / "never"), wait_ms=50))["future_id"]
    cancelled = await call("task", "cancel", ids=[id_])
    assert cancelled["state"] == "completed"
    assert [(each["id"], each["outcome"]) for each in cancelled["futures"]] == [(id_, "cancelled")]
    assert (await call("task", "cancel", ids=[id_]))["state"] == "superseded"
    (item,) = await arrived(call)
    assert (item["id"], item["state"]) == (id_, "cancelled")


async def test_a_future_of_another_conversation_is_not_found(wire: Wire, tmp_path: Path) -> None:
    call, other, nobody = client(wire), client(wire, "other"), client(wire, None)
    gate = tmp_path / "gate"
    id_ = (await call("machine", "exec", **held_up(gate), detach=True))["future_id"]
    for stranger in (other, nobody):
        assert (await stranger("task", "get", id=id_))["error"]["code"] == "not_found"
        assert (await stranger("task", "wait", ids=[id_]))["error"]["code"] == "not_found"
        assert (await stranger("task", "cancel", ids=[id_]))["error"]["code"] == "not_found"
        assert (await stranger("task", "list"))["futures"] == []
    gate.touch()
    assert len(await arrived(call)) == 1


async def test_who_presents_the_id_of_anonymous_work_has_it(wire: Wire, tmp_path: Path) -> None:
    nobody, other = client(wire, None), client(wire, "other")
    pending = await nobody("machine", "exec", **held_up(tmp_path / "never"), detach=True)
    id_ = pending["future_id"]
    assert (await nobody("task", "get", id=id_))["future"]["id"] == id_
    assert (await nobody("task", "list"))["futures"] == [], "it is in no list"
    assert (await other("task", "wait", ids=[id_], timeout_ms=1))["state"] == "pending"
    assert (await nobody("task", "cancel", ids=[id_]))["futures"][0]["outcome"] == "cancelled"


async def test_the_shell_sees_every_future(wire: Wire, runtime: Runtime) -> None:
    id_ = (await client(wire)("machine", "host_info", detach=True))["future_id"]
    await arrived(client(wire))
    shell = runtime.for_call(caller=Caller.SHELL)
    assert shell.call("task.get", id=id_[:20]).future.id == id_
    assert [each.id for each in shell.call("task.list").futures] == [id_]


async def test_a_future_whose_server_is_gone_is_blocked_by_whoever_looks(wire: Wire, runtime: Runtime) -> None:
    call = client(wire)
    await call("machine", "host_info")  # what is begun from now on is not recovered by the server's own start
    gone = Owner(pid=999_999_999, start="0", boot=runtime.host.boot_id())
    first, second = (_left_behind(runtime, gone) for _ in range(2))
    assert (await call("task", "get", id=first))["future"]["result"]["error"]["code"] == "interrupted"
    assert (await call("task", "wait", ids=[second]))["futures"][0]["state"] == "blocked"


async def test_a_server_blocks_what_dead_ones_left(wire: Wire, runtime: Runtime) -> None:
    left = _left_behind(runtime, Owner(pid=999_999_999, start="0", boot=runtime.host.boot_id()))
    (item,) = await arrived(client(wire))
    assert (item["id"], item["state"]) == (left, "blocked")
    assert item["summary"]["result"]["error"]["code"] == "interrupted"


@not_emulated("it has no way to look at other processes")
async def test_futures_of_a_server_that_lives_are_left_alone(wire: Wire, runtime: Runtime) -> None:
    other = futures.owner_here(runtime.host)._replace(
        pid=os.getppid(), start=runtime.host.process_start(os.getppid()) or ""
    )
    left = _left_behind(runtime, other)
    call = client(wire)
    assert (await call("task", "get", id=left))["future"]["state"] == "running"
    assert (await call("task", "wait", ids=[left], timeout_ms=1))["state"] == "pending"


def _left_behind(runtime: Runtime, owner: Owner) -> str:
    from hearth import conversations

    mine = runtime.for_call(conversation=conversations.named("mine"), caller=Caller.MCP)
    return futures.open_future(mine, owner, "machine.exec", started_at=runtime.now())


async def test_a_job_tells_its_conversation_of_its_end(wire: Wire) -> None:
    call, other = client(wire), client(wire, "other")
    submitted = await call("task", "submit", command=sys.executable, args=["-c", "raise SystemExit(3)"])
    id_ = submitted["jobs"][0]["id"]
    with anyio.fail_after(15):
        ended = await call("task", "wait", ids=[id_])
    assert ended["jobs"][0]["exit_code"] == 3
    (item,) = await arrived(call)
    assert (item["kind"], item["id"], item["state"]) == ("job", id_, "failed")
    assert item["summary"]["exit_code"] == 3
    assert (await other("machine", "host_info"))["arrivals"] == []
