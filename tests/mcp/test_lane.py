"""The short way answers as the SDK's long way does, or lets it answer."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth.mcp import lane
from hearth.mcp.app import App
from hearth.mcp.envelope import Reply
from hearth.runtime import Runtime
from tests.mcp import mutations
from tests.mcp.conftest import Response, Wire, opened

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("seed", "requests"),
    [
        pytest.param(1, 400, id="few"),
        *[
            pytest.param(seed, 4_000, id=f"many {seed}", marks=[pytest.mark.slow, pytest.mark.timeout(600)])
            for seed in (7, 8, 9)
        ],
    ],
)
async def test_mutated_requests_are_answered_alike_both_ways(
    runtime: Runtime, work: Path, seed: int, requests: int
) -> None:
    (work / "a.txt").write_bytes(b"hello world")
    chance = random.Random(seed)
    long_way = replace(runtime.settings, serve=replace(runtime.settings.serve, lane=False))
    taken = 0
    async with opened(runtime) as short, opened(runtime.for_call(settings=long_way)) as long:
        for _ in range(requests):
            headers, body = mutations.mutated(chance)
            answers = [seen(await wire.http("POST", "/mcp", headers, (body,))) for wire in (short, long)]
            assert answers[0] == answers[1], (headers, body)
            assert answers[0][0] in (200, 202, 400, 403, 404, 406, 413, 421)
            taken += answers[0][0] == 200
    assert taken > requests / 5
    assert not (Path(runtime.data_dir) / "crashes").exists()


def seen(response: Response) -> tuple[int, str | None, Any]:
    kind = response.headers.get("content-type")
    return response.status, kind, response.json if kind and response.body else response.body


async def test_the_plainest_form_is_taken(runtime: Runtime) -> None:
    app = App(runtime)
    chance = random.Random(0)
    _, message = mutations.right(chance)
    message |= {"id": 1}
    message["params"]["_meta"].pop("progressToken", None)
    message["params"]["_meta"].pop("other/key", None)
    assert lane.Lane(app).take(message) is not None
    message["params"]["_meta"]["progressToken"] = 1
    assert lane.Lane(app).take(message) is None
    app.cancel()


def test_a_message_is_written_as_one_of_the_sdk_would_be() -> None:
    reply = Reply('{"state":"completed","data":"é\\n"}', {"state": "completed", "data": "é\n"}, False, ({"type": "x"},))
    message = json.loads(lane.message_of("a", reply))
    assert message["id"] == "a"
    assert {**reply.result(), "_meta": lane.SERVER_INFO} == message["result"]


async def test_a_call_that_takes_long_is_answered_as_a_stream(
    runtime: Runtime, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "PING_S", 0.05)
    program = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\nprint('done')"
    async with opened(runtime) as wire:
        response = await called_until_go(wire, work, program)
    assert response.headers["content-type"] == "text/event-stream"
    assert response.body.startswith(b": ping\r\n\r\n")
    assert response.json["result"]["structuredContent"]["stdout"].strip() == "done"


async def called_until_go(wire: Wire, work: Path, program: str) -> Response:
    import anyio

    async def go() -> None:
        await anyio.sleep(0.2)  # longer than a ping, which nothing but time brings about
        (work / "go").touch()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go)
        arguments = {"operation": "exec", "command": sys.executable, "args": ["-c", program]}
        return await wire.modern("tools/call", {"name": "machine", "arguments": arguments}, "machine")
    raise AssertionError
