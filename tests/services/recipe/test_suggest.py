"""recipe.suggest: what was done again and again, as a definition to review."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth import catalog, check, conversations, dispatch
from hearth.operation import types_of
from hearth.runtime import Caller, Runtime
from hearth.services.recipe.definition import Definition, ParameterType, Step
from hearth.services.recipe.source import to_toml
from hearth.services.recipe.suggest import Suggestion, SuggestRecipes, suggest

Hearth = Callable[..., Any]


def call(runtime: Runtime, operation: str, **given: Any) -> None:
    family, row = catalog.find(operation)
    answer = dispatch.call(runtime, operation, types_of(family.load(row.target))[0](**given))
    assert answer.error is None, answer.error


def suggested(runtime: Runtime, **given: Any) -> list[tuple[Suggestion, Definition]]:
    found = suggest(runtime, SuggestRecipes(**given)).suggestions
    return [(each, check.validate(Definition, tomllib.loads(each.source))) for each in found]


def edit(runtime: Runtime, work: Path, name: str) -> None:
    (work / name).write_text("text\n", "utf-8")
    call(runtime, "fs.stat", path=name)
    call(runtime, "fs.read", path=name, limit=5)
    call(runtime, "machine.exec", command=sys.executable, args=("-c", "pass", "--file", name))


def test_what_was_the_same_stays_and_what_differed_is_one_parameter(runtime: Runtime, work: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        edit(runtime, work, name)
    ((about, definition),) = suggested(runtime)
    assert (about.pattern, about.count, about.saved) == (("fs.stat", "fs.read", "machine.exec"), 3, 6)
    assert {name: each.type for name, each in definition.parameters.items()} == {"path": ParameterType.PATH}
    assert definition.parameters["path"].description == "Such as a.txt, b.txt, c.txt."
    stat, read, run = definition.steps
    assert stat.input == {"path": "${path}"}
    assert read.input == {"path": "${path}", "limit": 5}
    assert run.input == {"command": sys.executable, "args": ["-c", "pass", "--file", "${path}"]}


def test_what_is_done_less_often_than_asked_for_is_no_habit(runtime: Runtime, work: Path) -> None:
    for name in ("a.txt", "b.txt"):
        edit(runtime, work, name)
    assert suggested(runtime) == []
    assert len(suggested(runtime, threshold=2)) == 1


def test_a_call_that_answered_a_part_is_one_that_was_done(runtime: Runtime, work: Path) -> None:
    (work / "a.txt").write_bytes(b"a long text\n")
    for _ in range(3):
        call(runtime, "fs.read", path="a.txt", limit=5)
        call(runtime, "fs.stat", path="a.txt")
    assert [about.pattern for about, _ in suggested(runtime)] == [("fs.read", "fs.stat")]


def test_a_call_that_failed_ends_a_pattern(runtime: Runtime, work: Path) -> None:
    (work / "a.txt").write_text("text\n", "utf-8")
    family, row = catalog.find("fs.stat")
    missing = types_of(family.load(row.target))[0](path="missing")
    for _ in range(3):
        call(runtime, "fs.stat", path="a.txt")
        assert dispatch.call(runtime, "fs.stat", missing).error is not None
        call(runtime, "fs.read", path="a.txt")
    assert suggested(runtime) == []


def test_over_mcp_only_what_was_done_in_the_own_conversation_is_looked_at(runtime: Runtime, work: Path) -> None:
    mine, other = (
        replace(runtime, caller=Caller.MCP, conversation=conversations.named(name)) for name in ("mine", "other")
    )
    for name in ("a.txt", "b.txt", "c.txt"):
        edit(mine, work, name)
    mine.store.event_queue(mine.settings.retention).flush()
    assert len(suggested(mine)) == 1
    assert suggested(other) == []


def test_what_the_events_do_not_hold_has_to_be_given(runtime: Runtime) -> None:
    for _ in range(3):
        call(runtime, "fs.write", path="a.txt", data="the same")
        call(
            runtime,
            "machine.exec",
            command=sys.executable,
            args=("-c", "pass", "--password", "hunter2x"),
            env={"API_TOKEN": "t0k3n", "MODE": "fast"},
        )
    ((about, definition),) = suggested(runtime)
    write, run = definition.steps
    assert write.input == {"path": "a.txt", "data": "${data}"}
    assert run.input["args"] == ["-c", "pass", "--password", "${password}"]
    assert run.input["env"] == {"API_TOKEN": "${api_token}", "MODE": "${mode}"}
    assert definition.parameters["api_token"].type is ParameterType.SECRET
    assert "hunter2x" not in about.source
    assert "t0k3n" not in about.source


def test_at_a_shell_the_definition_is_text_for_a_file(hearth: Hearth, work: Path) -> None:
    (work / "a.txt").write_text("text\n", "utf-8")
    for _ in range(3):
        assert hearth("fs", "stat", "a.txt").status == 0
        assert hearth("fs", "hash", "a.txt").status == 0
    done = hearth("recipe", "suggest")
    assert done.status == 0
    assert done.out.startswith("# done 3 times, last ")
    made = check.validate(Definition, tomllib.loads(done.out))
    assert [step.primitive for step in made.steps] == ["fs.stat", "fs.hash"]


def test_a_shell_is_told_that_nothing_was_found(hearth: Hearth) -> None:
    done = hearth("recipe", "suggest")
    assert (done.status, done.out) == (0, "")
    assert "nothing was done 3 times" in done.err


@pytest.mark.parametrize("text", ["${name}", "$${", "a\nb", '"', "\\", "é", "a # b"])
def test_a_definition_is_the_same_after_it_was_toml(text: str) -> None:
    definition = Definition(
        name="x", steps=(Step(primitive="fs.read", input={"path": text, "paths": [text], "limit": 3}),)
    )
    assert check.validate(Definition, tomllib.loads(to_toml(definition))) == definition
