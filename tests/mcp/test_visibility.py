"""What one conversation did is no other's: neither in lists, nor by its id, nor to be taken back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hearth.runtime import Runtime
from tests.mcp.conftest import Wire
from tests.mcp.test_calls import client

pytestmark = pytest.mark.anyio
MUCH: dict[str, Any] = {"command": sys.executable, "args": ["-c", "print('x' * 200_000)"]}


def codes(answers: list[Any]) -> set[str]:
    return {answer["error"]["code"] for answer in answers}


async def test_a_receipt_takes_back_only_ones_own_change(wire: Wire, work: Path) -> None:
    call, other = client(wire), client(wire, "other")
    receipt = (await call("fs", "write", path="a", data="mine"))["receipt"]
    tried = [
        await other("fs", "undo", receipt=receipt),
        await other("fs", "undo", receipt=receipt[:12]),
        await other("fs", "diff", receipt=receipt),
        await other("fs", "undo", last=True),
        await client(wire, None)("fs", "undo", receipt=receipt),
    ]
    assert codes(tried) == {"not_found"}
    assert (work / "a").read_text("utf-8") == "mine"
    assert (await call("fs", "undo", receipt=receipt))["state"] == "completed"
    assert codes([await other("fs", "redo", receipt=receipt)]) == {"not_found"}
    assert not (work / "a").exists()


async def test_history_shows_ones_own_changes(wire: Wire, runtime: Runtime) -> None:
    for name in ("mine", "other"):
        await client(wire, name)("fs", "write", path=f"{name}.txt", data="x", run="together")
    for filters in ({}, {"group": "together"}):
        shown = (await client(wire)("fs", "history", **filters))["receipts"]
        assert [Path(each["path"]).name for each in shown] == ["mine.txt"]
    assert (await client(wire)("fs", "history", path="other.txt"))["receipts"] == []
    assert (await client(wire, None)("fs", "history"))["receipts"] == []
    assert len(runtime.call("fs.history").receipts) == 2, "who has the shell has everything"


async def test_a_change_set_of_several_is_undone_by_each_for_itself(wire: Wire, work: Path) -> None:
    for name in ("mine", "other"):
        await client(wire, name)("fs", "write", path=f"{name}.txt", data="x", run="together")
    assert (await client(wire)("fs", "undo", group="together"))["state"] == "completed"
    assert sorted(path.name for path in work.iterdir()) == ["other.txt"]


async def test_who_presents_the_receipt_of_an_anonymous_change_undoes_it(wire: Wire, work: Path) -> None:
    receipt = (await client(wire, None)("fs", "write", path="a", data="x"))["receipt"]
    assert (await client(wire, None)("fs", "undo", receipt=receipt))["state"] == "completed"
    assert not (work / "a").exists()


async def test_an_artifact_is_read_by_its_conversation_alone(wire: Wire) -> None:
    call, other, nobody = client(wire), client(wire, "other"), client(wire, None)
    id_ = (await call("machine", "exec", **MUCH))["stdout_facts"]["artifact"]
    assert (await call("artifact", "read", id=id_))["state"] == "partial"
    assert [each["id"] for each in (await call("artifact", "list"))["artifacts"]] == [id_]
    for stranger in (other, nobody):
        tried = [await stranger("artifact", name, id=id_) for name in ("read", "range", "metadata")]
        assert codes([*tried, await stranger("artifact", "search", id=id_, query="x")]) == {"not_found"}
        assert (await stranger("artifact", "list"))["artifacts"] == []
    uri = f"hearth://artifact/{id_}"
    own = await wire.modern("resources/read", {"uri": uri, "_meta": {"hearth/conversation": "mine"}}, uri)
    assert "result" in own.json
    assert (await wire.modern("resources/read", {"uri": uri}, uri)).json["error"]["code"] == -32602


async def test_a_job_is_known_to_its_conversation_alone(wire: Wire) -> None:
    call, other = client(wire), client(wire, "other")
    id_ = (await call("task", "submit", command=sys.executable, args=["-c", ""], delay_ms=600_000))["jobs"][0]["id"]
    assert (await call("task", "get", id=id_))["job"]["id"] == id_
    tried = [await other("task", "get", id=id_), await other("task", "cancel", ids=[id_])]
    assert codes([*tried, await other("task", "wait", ids=[id_])]) == {"not_found"}
    assert (await other("task", "list"))["jobs"] == []
    assert (await call("task", "cancel", ids=[id_]))["jobs"][0]["outcome"] == "cancelled"


async def test_anonymous_jobs_are_told_with_the_handle_to_come_back_with(wire: Wire) -> None:
    nobody = client(wire, None)
    submitted = await nobody("task", "submit", command=sys.executable, args=["-c", ""], delay_ms=600_000)
    id_ = submitted["jobs"][0]["id"]
    again = client(wire, submitted["conversation"])
    assert [each["id"] for each in (await again("task", "list"))["jobs"]] == [id_]
    assert (await nobody("task", "list"))["jobs"] == []
    assert (await nobody("task", "cancel", ids=[id_]))["jobs"][0]["outcome"] == "cancelled"
    assert [item["id"] for item in (await again("machine", "host_info"))["arrivals"]] == [id_]
