"""Clients that nobody here wrote."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp import processes
from tests.mcp.peers import node
from tests.mcp.processes import served

HERE = Path(__file__).parent
FASTMCP = node.FOLDER / "fastmcp" / "bin" / "python"
FAMILIES = ["machine", "fs", "task", "artifact"]
HOST_INFO = '{"operation":"host_info"}'


def check(tools: list[str], info: dict[str, Any], wrong: dict[str, Any]) -> None:
    """What every client must see: the tools, an answer, and an error that a model can mend."""
    assert tools[:4] == FAMILIES
    assert info["structuredContent"] == json.loads(info["content"][0]["text"])
    assert info["structuredContent"]["state"] == "completed"
    assert wrong["isError"] is True
    assert wrong["structuredContent"]["error"]["code"] == "invalid_input"


async def talk(client: Client) -> None:
    async with client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        info = await client.call_tool("machine", {"operation": "host_info"})
        wrong = await client.call_tool("fs", {"operation": "stat", "nonsense": 1})
        check(tools, *(each.model_dump(mode="json", by_alias=True) for each in (info, wrong)))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.timeout(30)
async def test_the_sdks_client_talks_over_http_in_every_era(work: Path) -> None:
    with served(work) as server:
        for mode in ("legacy", "auto", "2026-07-28"):
            await talk(Client(server.url, mode=mode))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.timeout(30)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_sdks_client_talks_over_pipes(work: Path, mode: str) -> None:
    words = processes.words("--stdio", "--no-worker", "--root", str(work))
    started = StdioServerParameters(command=words[0], args=words[1:], env=processes.environment(), cwd=str(work))
    await talk(Client(stdio_client(started), mode=mode))


@pytest.mark.skipif(not FASTMCP.exists(), reason="MCP_PEERS names no folder with an environment of fastmcp")
@pytest.mark.slow
@pytest.mark.timeout(60)
def test_fastmcps_client_talks_over_http(work: Path) -> None:
    with served(work) as server:
        words = [str(FASTMCP), str(HERE / "client_fastmcp.py"), server.url]
        done = subprocess.run(words, capture_output=True, check=False, timeout=50)
    assert done.returncode == 0, done.stderr.decode()
    check(*json.loads(done.stdout))


@node.needed
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_clients_of_typescript_talk_over_http(work: Path) -> None:
    with served(work) as server:
        for script, mode in (("client2", "legacy"), ("client2", "auto"), ("client2", "2026-07-28"), ("client1", "-")):
            done = node.run(str(HERE / f"{script}.mjs"), server.url, mode, str(node.FOLDER))
            assert done.returncode == 0, done.stderr
            seen = json.loads(done.stdout)
            check(seen["tools"], seen["info"], seen["wrong"])


@node.needed
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_inspector_talks_in_every_era_and_finds_no_fault_with_the_schemas(work: Path) -> None:
    with served(work) as server:
        for era in ("legacy", "auto", "modern"):
            where = ("--cli", server.url, "--transport", "http", "--protocol-era", era, "--format", "json")
            listed = node.run("mcp-inspector", *where, "--method", "tools/list", "--strict")
            assert listed.returncode == 0, listed.stderr
            assert [tool["name"] for tool in json.loads(listed.stdout)["result"]["tools"]][:4] == FAMILIES
            call = ("--method", "tools/call", "--tool-name", "machine", "--tool-args-json", HOST_INFO)
            called = node.run("mcp-inspector", *where, *call)
            assert called.returncode == 0, called.stderr
            assert json.loads(called.stdout)["result"]["structuredContent"]["state"] == "completed"


@node.needed
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_inspector_talks_over_pipes(work: Path) -> None:
    words = processes.words("--stdio", "--no-worker", "--root", str(work))
    where = ("--cli", "--protocol-era", "modern", "--method", "tools/list", "--format", "json", "--", *words)
    listed = node.run("mcp-inspector", *where, cwd=processes.ROOT)  # it hands on little of the environment
    assert listed.returncode == 0, listed.stderr
    assert [tool["name"] for tool in json.loads(listed.stdout)["result"]["tools"]][:4] == FAMILIES
