from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli.batch import MAX_LINE_BYTES, WINDOW, Batch, read_lines
from hearth.runtime import Runtime

Hearth = Callable[..., Any]


def request(id_: Any, path: str = ".", **more: Any) -> bytes:
    return json.dumps({"id": id_, "operation": "fs.stat", "input": {"path": path}, **more}).encode() + b"\n"


def test_a_batch_answers_each_request_with_its_id(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"x")
    done = hearth("call", "--batch", stdin=request(1, "a") + request("two", "a"))
    assert done.status == 0
    assert [line["id"] for line in done.lines] == [1, "two"]
    assert set(done.lines[0]) == {"id", "operation", "exit_status", "result"}
    assert done.lines[0]["result"] == hearth("fs", "stat", "a", "--json").json


def test_a_batch_with_a_failed_call_ends_with_1_and_answers_the_rest(hearth: Hearth) -> None:
    done = hearth("call", "--batch", stdin=request(1, "nowhere") + request(2))
    assert done.status == 1
    assert [line["exit_status"] for line in done.lines] == [4, 0]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"{", "not_json"),
        (b'{"id": 9, "operation": "fs.stat", "input": {"path": "a\x0bb"}}', "not_json"),
        (b"\xff\xfe{}", "not_json"),
        (b"[]", "wrong_type"),
        (b'{"id": {}, "operation": "fs.stat"}', "wrong_type"),
        (b"[" * 100_000, "not_json"),
    ],
    ids=["cut", "raw control character", "not UTF-8", "no object", "id is no scalar", "nested deeply"],
)
def test_an_unreadable_line_answers_with_its_number_and_harms_no_other(hearth: Hearth, bad: bytes, code: str) -> None:
    done = hearth("call", "--batch", stdin=request(1) + bad + b"\n" + request(3))
    assert [line["id"] for line in done.lines] == [1, None, 3]
    refused = done.lines[1]
    assert set(refused) == {"id", "line", "exit_status", "result"}
    assert (refused["line"], refused["exit_status"]) == (2, 2)
    assert refused["result"]["error"]["details"]["problems"][0]["code"] == code


def test_a_readable_but_wrong_request_keeps_its_id(hearth: Hearth) -> None:
    lines = (b'{"id": 1}', b'{"id": 2, "operation": "fs.nope"}', b'{"id": 3, "operation": "fs.stat", "inputs": {}}')
    done = hearth("call", "--batch", stdin=b"\n".join(lines))
    assert [(line["id"], line["exit_status"]) for line in done.lines] == [(1, 2), (2, 2), (3, 2)]


def test_a_batch_skips_a_bom_and_blank_lines_and_takes_crlf(hearth: Hearth) -> None:
    done = hearth(
        "call", "--batch", stdin=b"\xef\xbb\xbf" + request(1).replace(b"\n", b"\r\n\r\n") + request(2).rstrip()
    )
    assert [(line["id"], line["exit_status"]) for line in done.lines] == [(1, 0), (2, 0)]


def test_a_line_above_the_bound_is_refused_and_the_next_is_read() -> None:
    stream = io.BytesIO(b"x" * (MAX_LINE_BYTES + 2_000_000) + b"\n" + b"{}\n")
    (first, refused), (second, line) = read_lines(stream)
    assert (first, second, line) == (1, 2, b"{}\n")
    assert not isinstance(refused, bytes)
    assert refused.details["problems"][0]["code"] == "too_long"


def test_many_jobs_answer_everything_once_and_ordered_in_order(hearth: Hearth) -> None:
    requests = b"".join(request(number, "nowhere" if number % 7 == 0 else ".") for number in range(300))
    done = hearth("call", "--batch", "--jobs", "8", "--ordered", stdin=requests)
    assert [line["id"] for line in done.lines] == list(range(300))
    free = hearth("call", "--batch", "--jobs", "8", stdin=requests)
    assert sorted(line["id"] for line in free.lines) == list(range(300))


def test_each_answer_is_written_before_the_next_request_is_read(runtime: Runtime) -> None:
    read, write = os.pipe()
    answers: list[bytes] = []
    seen = threading.Event()

    def answered(line: bytes) -> None:
        answers.append(line)
        seen.set()

    batch = Batch(runtime, answered, jobs=1, ordered=False)
    with open(read, "rb") as requests, open(write, "wb", buffering=0) as caller:
        worker = threading.Thread(target=batch.run, args=(requests,))
        worker.start()
        caller.write(request(1))
        assert seen.wait(5), "the answer came while the pipe was still open"
        caller.close()
        worker.join(5)
    assert len(answers) == 1


@pytest.mark.parametrize("ordered", [False, True])
def test_requests_are_read_only_as_fast_as_answers_are_taken(runtime: Runtime, ordered: bool) -> None:
    requests = _Counting(b"".join(request(number) for number in range(200)))
    assert Batch(runtime, requests.answered, jobs=2, ordered=ordered).run(requests) == 0
    assert requests.answers == 200
    assert requests.most_waiting <= 2 * WINDOW + 1


class _Counting(io.BytesIO):
    """Requests whose first answer is taken only once no more of them are being read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.requests = 0
        self.answers = 0
        self.most_waiting = 0
        self._full = threading.Event()

    def readline(self, size: int | None = -1, /) -> bytes:
        self.requests += 1
        self.most_waiting = max(self.most_waiting, self.requests - self.answers)
        if self.requests > 2 * WINDOW:
            self._full.set()
        return super().readline(size)

    def answered(self, _: bytes) -> None:
        assert self._full.wait(5)
        self.answers += 1


def test_a_reader_that_goes_away_stops_the_batch(runtime: Runtime) -> None:
    def closed(_: bytes) -> None:
        raise BrokenPipeError

    requests = io.BytesIO(b"".join(request(number) for number in range(1_000)))
    with pytest.raises(BrokenPipeError):
        Batch(runtime, closed, jobs=3, ordered=False).run(requests)
    assert requests.tell() < len(requests.getvalue())


def test_ctrl_c_takes_back_what_runs_and_waits_for_it(runtime: Runtime) -> None:
    class Interrupted(io.BytesIO):
        def readline(self, _: int | None = -1, /) -> bytes:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Batch(runtime, lambda _: None, jobs=2, ordered=False).run(Interrupted())
    assert runtime.cancelled.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batch-")]


def test_a_batch_takes_no_operation_on_the_command_line(hearth: Hearth) -> None:
    assert hearth("call", "--batch", "fs.stat").status == 2
