"""The protocol in both eras, in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hearth import artifacts
from hearth.mcp.server import INSTRUCTIONS
from hearth.runtime import Runtime
from tests.mcp.conftest import MODERN, PREFIX, Wire

pytestmark = pytest.mark.anyio


async def test_discover_names_the_version_and_the_server(wire: Wire) -> None:
    response = await wire.modern("server/discover", {})
    result = response.json["result"]
    assert response.headers["content-type"] == "application/json"
    assert result["supportedVersions"] == [MODERN]
    assert result["instructions"] == INSTRUCTIONS
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")
    assert result["_meta"][PREFIX + "serverInfo"]["name"] == "hearth"


def test_the_instructions_fit_into_what_hosts_show() -> None:
    assert len(INSTRUCTIONS) < 2_048


async def test_tools_are_listed_in_a_stable_order_with_how_long_that_holds(wire: Wire) -> None:
    first, second = [(await wire.modern("tools/list", {})).json["result"] for _ in range(2)]
    assert first == second
    assert [tool["name"] for tool in first["tools"]][:4] == ["machine", "fs", "task", "artifact"]
    assert (first["ttlMs"], first["cacheScope"]) == (300_000, "public")


async def test_a_file_is_written_and_read(wire: Wire, work: Path) -> None:
    written = await wire.told("fs", operation="write", path="a.txt", data="héllo", expected_sha256="absent")
    assert (written["state"], written["created"]) == ("completed", True)
    assert (work / "a.txt").read_bytes() == "héllo".encode()
    assert (await wire.told("fs", operation="read", path="a.txt"))["data"] == "héllo"


async def test_a_former_version_is_served_without_a_session(wire: Wire) -> None:
    begun = await wire.legacy(
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    )
    assert begun.json["result"]["protocolVersion"] == "2025-06-18"
    called = await wire.legacy("tools/call", {"name": "machine", "arguments": {"operation": "host_info"}})
    result = called.json["result"]
    assert result["structuredContent"]["state"] == "completed"
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert len((await wire.legacy("tools/list", {})).json["result"]["tools"]) >= 4


async def test_an_unknown_tool_is_an_error_of_the_protocol(wire: Wire) -> None:
    response = await wire.modern("tools/call", {"name": "nope", "arguments": {}}, "nope")
    assert (response.status, response.json["error"]["code"]) == (400, -32602)


async def test_wrong_arguments_are_told_field_by_field_to_the_model(wire: Wire) -> None:
    result = await wire.call("fs", operation="write", path=3, content="x")
    assert result["isError"] is True
    problems = result["structuredContent"]["error"]["details"]["problems"]
    assert {(each["field"], each["code"]) for each in problems} == {
        ("path", "wrong_type"),
        ("content", "unknown_field"),
    }


async def test_a_call_without_arguments_says_what_is_missing(wire: Wire) -> None:
    response = await wire.modern("tools/call", {"name": "fs"}, "fs")
    result = response.json["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["details"]["problems"][0]["field"] == "operation"


@pytest.mark.parametrize("arguments", ["[]", '"{}"', "3"])
async def test_arguments_that_are_no_object_are_an_error_of_the_call(wire: Wire, arguments: str) -> None:
    response = await wire.modern("tools/call", {"name": "fs", "arguments": json.loads(arguments)}, "fs")
    assert response.json["error"]["code"] == -32602


async def test_numbers_and_booleans_in_quotes_are_accepted_when_exact(wire: Wire, work: Path) -> None:
    (work / "a.txt").write_bytes(b"abcdef")
    assert (await wire.told("fs", operation="read", path="a.txt", limit="3"))["data"] == "abc"
    refused = await wire.call("fs", operation="read", path="a.txt", limit="3 ", number="yes")
    assert len(refused["structuredContent"]["error"]["details"]["problems"]) == 2


async def test_refusals_are_errors_and_outcomes_are_not(wire: Wire, work: Path) -> None:
    (work / "a.txt").write_bytes(b"a")
    outside = await wire.call("fs", operation="read", path="/etc/passwd")
    assert (outside["isError"], outside["structuredContent"]["state"]) == (True, "blocked")
    conflict = await wire.call("fs", operation="write", path="a.txt", data="b", expected_sha256="0" * 64)
    assert (conflict["isError"], conflict["structuredContent"]["state"]) == (False, "conflict")
    failed = await wire.call("machine", operation="exec", command=sys.executable, args=["-c", "raise SystemExit(3)"])
    assert (failed["isError"], failed["structuredContent"]["exit_code"]) == (False, 3)


async def test_an_artifact_is_a_resource(wire: Wire, runtime: Runtime) -> None:
    kept = artifacts.keep(runtime, ["é".encode()], media_type="text/plain", operation="test")
    uri = f"hearth://artifact/{kept.id}"
    read = await wire.modern("resources/read", {"uri": uri}, uri)
    result = read.json["result"]
    assert result["contents"] == [{"uri": uri, "mimeType": "text/plain", "text": "é"}]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "private")
    templates = (await wire.modern("resources/templates/list", {})).json["result"]["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["hearth://artifact/{id}"]


@pytest.mark.parametrize("uri", ["hearth://artifact/art_none", "file:///etc/passwd", "hearth://other/x"])
async def test_a_resource_that_does_not_exist_is_not_found(wire: Wire, uri: str) -> None:
    response = await wire.modern("resources/read", {"uri": uri}, uri)
    assert response.json["error"]["code"] == -32602


async def test_what_is_no_text_is_a_blob(wire: Wire, runtime: Runtime) -> None:
    kept = artifacts.keep(runtime, [b"\xff\x00"], media_type="application/octet-stream", operation="test")
    uri = f"hearth://artifact/{kept.id}"
    response = await wire.modern("resources/read", {"uri": uri}, uri)
    assert response.json["result"]["contents"][0]["blob"] == "/wA="
