from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth import artifacts, dispatch
from hearth.answers import Answer
from hearth.model import State
from hearth.runtime import Runtime
from hearth.store.artifacts import Artifact
from tests.conftest import Done

Run = Callable[..., Done]


def keep(runtime: Runtime, content: bytes, encoding: str | None = None) -> Artifact:
    return artifacts.keep(
        runtime, [content], media_type="text/plain", operation="machine.exec", label="stdout", encoding=encoding
    )


def answer(runtime: Runtime, name: str, **values: object) -> Answer:
    return dispatch.call_json(runtime, f"artifact.{name}", values)


def test_a_text_is_read_whole(runtime: Runtime) -> None:
    made = keep(runtime, "Grüße\n".encode())
    found = answer(runtime, "read", id=made.id).result
    assert (found.state, found.id, found.data, found.encoding) == (State.COMPLETED, made.id, "Grüße\n", "utf-8")
    assert (found.offset, found.length, found.size, found.next_offset) == (0, 8, 8, None)


def test_bytes_that_are_no_text_come_as_base64(runtime: Runtime) -> None:
    made = keep(runtime, bytes(range(256)))
    found = answer(runtime, "read", id=made.id).result
    assert (found.encoding, found.data, base64.b64decode(found.data_base64)) == ("binary", None, bytes(range(256)))


@pytest.mark.parametrize("operation", ["read", "range"])
def test_no_character_of_an_artifact_is_split_at_any_border(runtime: Runtime, operation: str) -> None:
    content = b"a" * 1023 + "€".encode() + b"b" * 10
    made = keep(runtime, content)
    for limit in range(1021, 1029):
        found = answer(runtime, operation, id=made.id, offset=0, limit=limit).result
        assert found.data == content[: found.length].decode("utf-8")
        assert found.next_offset == found.length
    for offset in range(1021, 1029):
        found = answer(runtime, operation, id=made.id, offset=offset).result
        assert found.data == content[found.offset :].decode("utf-8")
        assert found.offset <= offset < found.offset + 3 or found.offset == offset


TEXTS = st.text(st.sampled_from("aé€😀\n"), min_size=1, max_size=60)


@settings(max_examples=60)
@given(text=TEXTS, limit=st.integers(1, 12), encoding=st.sampled_from(["utf-8", "utf-16-le"]))
def test_pages_of_any_size_add_up_to_the_text(shared: Runtime, text: str, limit: int, encoding: str) -> None:
    made = keep(shared, text.encode(encoding), encoding)
    pages, offset = [], 0
    while True:
        found = answer(shared, "range", id=made.id, offset=offset, limit=limit).result
        assert (found.offset, found.length > 0) == (offset, True)
        pages.append(found.data)
        offset = found.next_offset
        if offset is None:
            break
    assert "".join(pages) == text


def test_lines_and_ends_are_read(runtime: Runtime) -> None:
    made = keep(runtime, b"".join(b"line %d\n" % number for number in range(1, 101)))
    assert answer(runtime, "read", id=made.id, lines="10:11").result.data == "line 10\nline 11\n"
    assert answer(runtime, "read", id=made.id, tail=1).result.data == "line 100\n"
    assert answer(runtime, "read", id=made.id, head=1, number=True).result.data == "     1\tline 1\n"


def test_what_its_maker_said_about_the_encoding_is_believed(runtime: Runtime) -> None:
    made = keep(runtime, "Größe".encode("cp850"), "cp850")
    assert answer(runtime, "read", id=made.id).result.data == "Größe"


def test_an_answer_is_bounded_and_says_where_to_go_on(runtime: Runtime) -> None:
    made = keep(runtime, b"x" * 200_000)
    found = answer(runtime, "read", id=made.id).result
    assert (found.state, found.length, found.next_offset) == (State.PARTIAL, 65_536, 65_536)


def test_the_shell_streams_the_whole_bytes(runtime: Runtime, hearth: Run) -> None:
    content = bytes(range(256)) * 4_096
    made = keep(runtime, content)
    assert hearth("artifact", "read", made.id[:-2]).out_bytes == content
    assert len(hearth("artifact", "read", made.id, "--json").out_bytes) < 100_000


def test_an_unknown_id_is_not_found(runtime: Runtime, hearth: Run) -> None:
    del runtime
    done = hearth("artifact", "read", "art_none", "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")


def test_a_damaged_content_is_refused_and_a_missing_one_named(runtime: Runtime, hearth: Run) -> None:
    made = keep(runtime, b"hello")
    path = Path(runtime.data_dir, "blobs", made.body[:2], made.body[2:])
    path.write_bytes(b"hellO")
    for operation in ("read", "range", "metadata"):
        words = ("--verify",) if operation == "metadata" else ()
        done = hearth("artifact", operation, made.id, *words, "--json")
        assert (done.status, done.json["error"]["code"]) == (1, "artifact_damaged"), operation
    path.unlink()
    done = hearth("artifact", "read", made.id, "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "artifact_missing")
    assert hearth("artifact", "metadata", made.id, "--json").json["artifact"]["size"] == 5


def test_metadata_tells_who_made_it(runtime: Runtime, hearth: Run) -> None:
    made = keep(runtime, b"hello")
    told = hearth("artifact", "metadata", made.id, "--verify", "--json").json
    assert told["verified"] is True
    assert told["artifact"]["sha256"] == made.body
    assert told["artifact"]["operation"] == "machine.exec"
    assert "label       stdout\n" in hearth("artifact", "metadata", made.id).out
    with runtime.store.read() as view:
        data = [row[0] for row in view.execute("SELECT entity FROM events WHERE operation = 'artifact.metadata'")]
    assert data == [made.id, made.id]
    assert json.loads(hearth("artifact", "metadata", made.id, "--json").out)["verified"] is None


def test_a_damaged_content_of_any_size_is_told_by_the_shell_when_it_has_gone_through(
    runtime: Runtime, hearth: Run
) -> None:
    content = b"x" * 3_000_000
    made = keep(runtime, content)
    path = Path(runtime.data_dir, "blobs", made.body[:2], made.body[2:])
    with open(path, "r+b") as file:
        file.seek(2_000_000)
        file.write(b"y")
    done = hearth("artifact", "read", made.id)
    assert (done.status, len(done.out_bytes)) == (1, len(content))
    assert "is damaged" in done.err


def test_artifacts_lie_below_a_data_directory_of_any_length(tmp_path: Path, hearth: Run) -> None:
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    words = ("--data-dir", folder, "--json")
    told = hearth("artifact", "put", *words, stdin=b"hello").json["artifact"]
    assert hearth("artifact", "read", told["id"], *words).json["data"] == "hello"
    assert hearth("artifact", "delete", told["id"], *words).json["deleted"][0]["body_removed"] is True


@pytest.mark.parametrize("label", ["a\\b^c/../d", "CON", "-x", "$(id)", "é\u202e"])
def test_a_label_is_a_word_and_never_a_path(hearth: Run, runtime: Runtime, label: str) -> None:
    told = hearth("artifact", "put", f"--label={label}", "--json", stdin=b"hello").json["artifact"]
    found = hearth("artifact", "list", f"--label={label}", "--json").json["artifacts"]
    assert [each["id"] for each in found] == [told["id"]]
    assert found[0]["label"] == label
    names = {path.name for path in Path(runtime.data_dir).rglob("*")}
    assert not any(part in name for name in names for part in ("CON", "b^c", "$(id)"))
