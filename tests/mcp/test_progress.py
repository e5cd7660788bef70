"""How far a call is, told to a client that asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hearth.mcp import progress
from tests.mcp.conftest import Wire

pytestmark = pytest.mark.anyio


@pytest.fixture
def many(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough names that a walk tells of them several times, and each time is heard."""
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    for folder in range(5):
        (work / f"folder-{folder}").mkdir()
        for name in range(1_000):
            (work / f"folder-{folder}" / f"{name}").touch()


async def found(wire: Wire, **meta: Any) -> Any:
    arguments = {"operation": "find", "globs": ["nothing"]}
    return await wire.modern("tools/call", {"name": "fs", "arguments": arguments, "_meta": meta}, "fs")


@pytest.mark.usefixtures("many")
async def test_progress_is_told_in_growing_numbers_before_the_answer(wire: Wire) -> None:
    response = await found(wire, progressToken="t")
    assert response.headers["content-type"] == "text/event-stream"
    messages = [json.loads(line[6:]) for line in response.body.decode().splitlines() if line.startswith("data: ")]
    told = [each["params"] for each in messages[:-1]]
    assert told
    assert {each["progressToken"] for each in told} == {"t"}
    numbers = [each["progress"] for each in told]
    assert numbers == sorted(set(numbers))
    assert all(each["message"].endswith(" names") for each in told)
    assert messages[-1]["result"]["structuredContent"]["state"] == "completed"


@pytest.mark.usefixtures("many")
async def test_a_client_that_does_not_ask_for_progress_is_answered_in_plain_json(wire: Wire) -> None:
    response = await found(wire)
    assert response.headers["content-type"] == "application/json"
    assert response.json["result"]["structuredContent"]["visited"] > 5_000
