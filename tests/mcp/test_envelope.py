"""What goes over the wire is bounded: pages get shorter, and what has no pages goes into an artifact."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from hearth import artifacts
from hearth.errors import InvalidInput, OutsideRoot, Problem
from hearth.mcp import envelope
from hearth.runtime import Runtime
from tests.mcp.conftest import Wire

pytestmark = pytest.mark.anyio

ROOM = 24 * 1024
PRINT = "import sys; sys.stdout.buffer.write(({}).encode())"  # whatever the console's encoding
# A pixel: https://www.w3.org/TR/png-3/
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=")


def fits(result: Any) -> bool:
    text = result["content"][0]["text"]
    assert json.loads(text) == result["structuredContent"]
    return len(text.encode()) <= ROOM


@pytest.mark.parametrize(
    "content",
    ["abc def\n" * 20_000, '"\\"\t' * 20_000, "🌍" * 20_000, "\x01\x02" * 15_000, "é\r\n" * 20_000],
    ids=["plain", "escaped", "emoji", "control", "accents"],
)
async def test_a_long_file_is_read_in_pages_that_fit_and_make_it_up(wire: Wire, work: Path, content: str) -> None:
    (work / "a.txt").write_bytes(content.encode())
    parts, offset = [], 0
    while offset is not None:
        result = await wire.call("fs", operation="read", path="a.txt", offset=offset, encoding="utf-8")
        assert fits(result)
        page = result["structuredContent"]
        assert page["state"] == ("partial" if page["next_offset"] else "completed")
        parts.append(page["data"])
        offset = page["next_offset"]
    assert "".join(parts) == content
    assert len(parts) < 30


async def test_bytes_are_read_in_pages_that_fit(wire: Wire, work: Path) -> None:
    content = bytes(range(256)) * 300
    (work / "a.bin").write_bytes(content)
    parts, offset = [], 0
    while offset is not None:
        result = await wire.call("fs", operation="read", path="a.bin", offset=offset, encoding="base64")
        assert fits(result)
        parts.append(b64decode(result["structuredContent"]["data_base64"]))
        offset = result["structuredContent"]["next_offset"]
    assert b"".join(parts) == content


async def test_a_long_listing_is_given_in_pages_that_fit_and_miss_nothing(wire: Wire, work: Path) -> None:
    names = {f"{number:04}-{'x' * 60}" for number in range(300)}
    for name in names:
        (work / name).touch()
    found: list[str] = []
    cursor = None
    while True:
        result = await wire.call("fs", operation="list", path=".", limit=1_000, cursor=cursor)
        assert fits(result)
        page = result["structuredContent"]
        found += [each["name"] for each in page["entries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert page["state"] == "partial"
    assert len(found) == len(names)
    assert set(found) == names


async def test_an_artifact_is_read_in_pages_and_never_makes_another(wire: Wire, runtime: Runtime) -> None:
    content = '"quoted"\n' * 10_000
    kept = artifacts.keep(runtime, [content.encode()], media_type="text/plain", operation="test")
    parts, offset = [], 0
    while offset is not None:
        result = await wire.call("artifact", operation="range", id=kept.id, offset=offset)
        assert fits(result)
        assert len(result["content"]) == 1
        parts.append(result["structuredContent"]["data"])
        offset = result["structuredContent"]["next_offset"]
    assert "".join(parts) == content
    found = await wire.call("artifact", operation="search", id=kept.id, query="quoted", limit=1_000)
    assert fits(found)
    assert found["structuredContent"]["next_offset"] is not None
    with runtime.store.read() as view:
        assert view.execute("SELECT count(*) FROM artifacts").fetchone()[0] == 1


async def test_what_has_no_pages_goes_into_an_artifact_but_its_small_parts(wire: Wire, work: Path) -> None:
    (work / "a.txt").write_text("needle and more than that\n" * 1_000, encoding="utf-8")
    given = {"operation": "search", "query": "needle", "limit": 5_000, "max_count": 5_000}
    result = await wire.call("fs", **given, max_output_bytes=1_000_000)
    assert fits(result)
    told = result["structuredContent"]
    assert (told["state"], told["matches"], told["path"]) == ("completed", None, str(work))
    spilled = told["spilled"]
    assert spilled["fields"] == ["matches"]
    link = result["content"][1]
    assert (link["type"], link["uri"]) == ("resource_link", f"hearth://artifact/{spilled['artifact']}")
    uri = link["uri"]
    whole = (await wire.modern("resources/read", {"uri": uri}, uri)).json["result"]["contents"][0]
    assert whole["mimeType"] == "application/json"
    assert len(json.loads(whole["text"])["matches"]) == 1_000


async def test_long_output_of_a_program_is_linked(wire: Wire) -> None:
    result = await wire.call("machine", operation="exec", command=sys.executable, args=["-c", "print('x' * 100_000)"])
    assert fits(result)
    facts = result["structuredContent"]["stdout_facts"]
    assert result["content"][1]["uri"] == f"hearth://artifact/{facts['artifact']}"


@pytest.mark.parametrize(
    "odd", ["'\\x01' * 100_000", "'🌍' * 30_000", r"'\"\\' * 60_000"], ids=["control", "emoji", "quotes"]
)
async def test_output_that_grows_as_json_fits_too(wire: Wire, odd: str) -> None:
    result = await wire.call("machine", operation="exec", command=sys.executable, args=["-c", PRINT.format(odd)])
    assert fits(result)
    assert any(block["type"] == "resource_link" for block in result["content"])


async def test_a_picture_is_shown_as_one(wire: Wire, runtime: Runtime) -> None:
    kept = artifacts.keep(runtime, [PNG], media_type="image/png", operation="test")
    result = await wire.call("artifact", operation="read", id=kept.id)
    assert result["content"][1]["mimeType"] == "image/png"
    assert b64decode(result["content"][1]["data"]) == PNG


async def test_a_large_picture_is_not_sent_whole(wire: Wire, runtime: Runtime) -> None:
    kept = artifacts.keep(runtime, [PNG, bytes(600_000)], media_type="image/png", operation="test")
    result = await wire.call("artifact", operation="read", id=kept.id)
    assert fits(result)
    assert len(result["content"]) == 1


async def test_what_is_wrong_with_a_large_input_is_told_in_4_kib(wire: Wire) -> None:
    result = await wire.call("fs", operation="hash", paths=[7] * 3_000)
    assert len(result["content"][0]["text"].encode()) <= 4_096
    details = result["structuredContent"]["error"]["details"]
    assert len(details["problems"]) > 5
    assert len(details["problems"]) + details["more_problems"] == 3_000


async def test_a_bound_of_the_settings_is_kept_to(work: Path, runtime: Runtime) -> None:
    from dataclasses import replace

    from tests.mcp.conftest import opened

    (work / "a.txt").write_bytes(b"abc def\n" * 10_000)
    settings = replace(runtime.settings, serve=replace(runtime.settings.serve, answer_max_bytes=8_192))
    async with opened(runtime.for_call(settings=settings)) as wire:
        text = (await wire.call("fs", operation="read", path="a.txt"))["content"][0]["text"]
        assert 5_000 < len(text) <= 8_192


def test_a_long_message_is_cut() -> None:
    made = envelope.failure(OutsideRoot("x" * 10_000, path="y" * 10_000))
    assert len(made.text) <= envelope.ERROR_BYTES
    assert made.document["error"]["code"] == "outside_root"


def test_wrong_input_is_an_error_of_the_call() -> None:
    made = envelope.failure(InvalidInput(Problem("a", "missing", "is required")))
    assert made.is_error
    assert json.loads(made.text) == made.document


async def test_no_answer_is_larger_than_the_bound_whatever_its_length(runtime: Runtime, work: Path) -> None:
    from dataclasses import replace

    from tests.mcp.conftest import opened

    (work / "a.txt").write_bytes(b"x" * 5_000)
    for bound in range(5_000, 5_100, 3):
        settings = replace(runtime.settings, serve=replace(runtime.settings.serve, answer_max_bytes=bound))
        async with opened(runtime.for_call(settings=settings)) as wire:
            text = (await wire.call("fs", operation="read", path="a.txt"))["content"][0]["text"]
            assert len(text) <= bound
