"""What the README shows is true: its transcripts run, and its commands are those that CI runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.processes import META
from tests.powershell import syntax_is_right

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

REQUESTS = """\
{"id": 1, "operation": "fs.stat", "input": {"path": "plan.txt"}}
{"id": 2, "operation": "fs.stat", "input": {"path": "no-such-file"}}
"""


def blocks(language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(README) if kind == language]


JOBS = """\
[[jobs]]
command = "python3"
args = ["-c", "open('parts', 'w').write('wheel')"]

[[jobs]]
command = "python3"
args = ["-c", "print('ships', open('parts').read())"]
dependencies = [{ index = 0 }]
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a transcript, and what it must print; `...` stands for whatever comes."""

    command: str
    expected: str

    def shows(self, printed: str) -> bool:
        expected = self.expected.strip()
        if os.sep == "\\":
            printed = printed.replace("\r\n", "\n").replace("\\", "/")
            expected = expected.replace("\\", "/")
        pattern = ".*?".join(re.escape(part) for part in expected.split("..."))
        return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def steps(transcript: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield Step(command, expected)


class Shell:
    """As much of a shell as the transcripts use: `hearth`, `cat`, `echo $?`, `<` and `>`."""

    def __init__(self, folder: Path, hearth: Callable[..., Any]) -> None:
        self.folder, self.hearth, self.status = folder, hearth, 0

    def run(self, command: str) -> str:
        words, stdin, target = self._words(command)
        printed, errors = self._program(words, stdin)
        if target is not None:
            target.write_bytes(printed)
            printed = b""
        return printed.decode("utf-8") + errors

    def _words(self, command: str) -> tuple[list[str], bytes, Path | None]:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="<>|;&")
        lexer.whitespace_split = True
        words, stdin, target = [], b"", None
        for word in lexer:
            if word == "<":
                stdin = (self.folder / next(lexer)).read_bytes()
            elif word == ">":
                target = self.folder / next(lexer)
            else:
                words.append(word)
        return words, stdin, target

    def _program(self, words: list[str], stdin: bytes) -> tuple[bytes, str]:
        if words == ["echo", "$?"]:
            return f"{self.status}\n".encode(), ""
        if words[0] == "echo":
            return (" ".join(words[1:]) + "\n").encode(), ""
        if words[0] == "cat":
            return b"".join((self.folder / name).read_bytes() for name in words[1:]), ""
        assert words[0] == "hearth", f"the transcripts know no {words[0]}"
        # Not every machine has a program of that name, and a virtual environment need not be active.
        if "jobs.toml" in words:
            (self.folder / "jobs.toml").write_text(JOBS.replace('"python3"', json.dumps(sys.executable)), "utf-8")
        done = self.hearth(*(sys.executable if word == "python3" else word for word in words[1:]), stdin=stdin)
        self.status = done.status
        return done.out_bytes, done.err


@pytest.mark.timeout(60)
def test_every_transcript_prints_what_it_shows(
    work: Path, hearth: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_WORKER_IDLE_EXIT_S", "1")
    shell = Shell(work, hearth)
    for transcript in blocks("console"):
        if "requests.ndjson" in transcript:
            (work / "requests.ndjson").write_text(REQUESTS, encoding="utf-8")
        if "jobs.toml" in transcript:
            (work / "jobs.toml").write_text(JOBS, encoding="utf-8")
        for step in steps(transcript):
            printed = shell.run(step.command)
            assert step.shows(printed), f"$ {step.command}\n{printed}\nbut the README shows\n{step.expected}"


def test_ci_runs_the_two_commands_for_a_fresh_machine() -> None:
    commands = [line for line in "".join(blocks("sh")).splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [command for command in commands if f"\n    {command}\n" not in ci] == []


def test_powershell_gets_the_same_commands_without_what_5_1_does_not_know() -> None:
    lines = "".join(blocks("powershell")).splitlines()
    assert syntax_is_right("\n".join(lines))
    assert not [line for line in lines if "&&" in line or "||" in line]
    for words in ("pip install .", 'pip install -e ".[dev]"', "hearth demo", "pytest"):
        assert any(words in line for line in lines), words


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.timeout(30)
def test_the_commands_for_powershell_do_what_they_say(
    work: Path, hearth: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_WORKER_IDLE_EXIT_S", "1")
    (work / "plan.txt").write_text("eat soup\n", "utf-8")
    (work / "stat.json").write_text('{"path": "plan.txt"}', "utf-8")
    (script,) = (body for kind, body in BLOCK.findall(section("Use it from PowerShell")) if kind == "powershell")
    job, statuses = "", {}
    for line in script.splitlines():
        given, _, command = line.partition("hearth ")
        if not command:
            continue
        words = shlex.split(command.partition(" | ")[0].replace("$job.jobs[0].id", job))
        stdin = REQUESTS if "requests.ndjson" in given else given.strip().removesuffix("|").strip(" '")
        words = [sys.executable if word == "python3" else word for word in words]
        done = hearth(*words, stdin=stdin.encode() if "|" in given else b"")
        statuses[" ".join(words[:2])] = done.status
        if words[:2] == ["task", "submit"]:
            job = done.json["jobs"][0]["id"]
    # One of the two requests of the batch is about a file that is not there.
    assert statuses == {
        "fs stat": 0, "call fs.stat": 0, "call fs.read": 0, "task submit": 0, "task wait": 0, "task logs": 0,
        "call --batch": 1,
    }  # fmt: skip


@pytest.mark.timeout(30)
def test_a_host_that_is_configured_so_is_served(work: Path) -> None:
    (configuration,) = (json.loads(body) for body in blocks("json"))
    (entry,) = configuration["mcpServers"].values()
    words = [str(work) if word == "/home/me/notes" else word for word in entry["args"]]
    assert entry["command"] == "hearth"
    assert words[:2] == ["serve", "--stdio"]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    with subprocess.Popen(
        [sys.executable, "-m", "hearth", *words, "--no-worker"], cwd=work, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
    assert {"machine", "fs", "task", "artifact"} <= {tool["name"] for tool in answer["result"]["tools"]}


def test_the_dependency_table_names_what_is_installed() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["project"]["dependencies"]
    table = README.partition("## Dependencies")[2].partition("\n## ")[0]
    named = re.findall(r"^\| ([a-z0-9-]+) \|", table, re.MULTILINE)
    assert sorted(set(named) - {"package"}) == sorted(re.match(r"[a-z0-9-]+", line)[0] for line in declared)  # type: ignore[index]


def test_the_map_of_the_code_names_files_that_are_there() -> None:
    table = README.partition("## Map of the code")[2].partition("\n## ")[0]
    named = [name for name in re.findall(r"`([\w./]+)`", table) if "/" in name and "FAMILY" not in name]
    assert [name for name in named if not (ROOT / name).exists()] == []
