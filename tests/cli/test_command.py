"""How fields become words, on a model with every kind of field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import click
import pytest

from hearth.cli import command
from hearth.errors import InvalidInput
from hearth.model import Cli, model
from hearth.operation import Effect, Family, Operation
from tests.contracts.inputs import Colour, EveryKind, Part

Hearth = Callable[..., Any]


def operation(runtime: None, given: EveryKind) -> EveryKind:
    raise NotImplementedError


@model
class Named:
    """A program that is given a name first."""

    name: Annotated[str, Cli(argument=True)]
    command: Annotated[str | None, Cli(argument=True)] = None
    args: Annotated[tuple[str, ...], Cli(argument=True, rest=True)] = ()
    times: int = 1
    quick: bool = False


def named(runtime: None, given: Named) -> Named:
    raise NotImplementedError


def program(*words: str) -> Named:
    """What words mean among which those of a program are."""
    row = Operation("named", "test_command:named", Effect.READ, "A program.")
    built = command.build(Family("tests", "Tests.", (), package="tests.cli"), row, lambda _, __, given: given, [])
    with built.make_context("named", list(words)) as context:
        made = context.command.invoke(context)
    assert isinstance(made, Named)
    return made


def parsed(*words: str) -> EveryKind:
    """What the words of a command mean."""
    family = Family("tests", "Tests.", (), package="tests.cli")
    row = Operation("every", "test_command:operation", Effect.READ, "Every kind of field.")
    built = command.build(family, row, lambda _, __, given: given, [])
    with built.make_context("every", list(words)) as context:
        made = context.command.invoke(context)
    assert isinstance(made, EveryKind)
    return made


def test_what_is_not_given_keeps_its_default() -> None:
    assert parsed("--word", "a") == EveryKind(word="a")


def test_each_kind_of_field_has_its_own_words() -> None:
    words = "--word ab --count -2 --share 0.25 --on --colour blue --colours red --colours blue --numbers 1 --numbers 2"
    assert parsed(*words.split()) == EveryKind(
        word="ab", count=-2, share=0.25, on=True, colour=Colour.BLUE, colours=(Colour.RED, Colour.BLUE), numbers=(1, 2)
    )


def test_a_switch_can_be_turned_off_and_the_last_one_counts() -> None:
    assert parsed("--word", "a", "--no-on").on is False
    assert parsed("--word", "a", "--no-on", "--on").on is True
    assert parsed("--word", "a").on is None


@pytest.mark.parametrize("separator", [(), ("--",)])
@pytest.mark.parametrize(
    "front",
    ["n --times 2 --quick", "--times 2 n --quick", "--times=2 --quick n", "--quick n --times 2"],
)
def test_options_stand_on_both_sides_of_the_name_and_never_behind_the_program(
    front: str, separator: tuple[str, ...]
) -> None:
    made = program(*front.split(), *separator, "make", "--times", "5", "--", "-q")
    assert made == Named(name="n", command="make", args=("--times", "5", "--", "-q"), times=2, quick=True)


def test_a_name_needs_no_program_behind_it() -> None:
    assert program("n", "--times", "2") == program("--times", "2", "n") == Named(name="n", times=2)
    assert program("--times", "2", "--", "n", "-q") == Named(name="n", command="-q", times=2)


def test_a_table_is_given_as_name_and_value() -> None:
    assert parsed("--word", "a", "--names", "x=1", "--names", "y=a=b").names == {"x": "1", "y": "a=b"}


@pytest.mark.parametrize("word", ["x", "=x"])
def test_a_table_without_a_name_is_refused(word: str) -> None:
    with pytest.raises(InvalidInput, match="NAME=VALUE"):
        parsed("--word", "a", "--names", word)


def test_nested_values_are_json_from_a_word_a_file_or_standard_input(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    (work / "part.json").write_bytes(b'\xef\xbb\xbf{"name": "file"}')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"name": "in"}'), "utf-8"))
    words = ("--parts", '{"name": "word", "weight": 2}', "--parts", "@part.json", "--part", "-")
    made = parsed("--word", "a", *words)
    assert made.parts == (Part(name="word", weight=2.0), Part(name="file"))
    assert made.part == Part(name="in")


def test_a_list_of_nested_values_may_be_one_word() -> None:
    made = parsed("--word", "a", "--parts", '[{"name": "one"}, {"name": "two"}]')
    assert made.parts == (Part(name="one"), Part(name="two"))
    with pytest.raises(InvalidInput) as caught:
        parsed("--word", "a", "--parts", '[{"name": "one"}, {"nam": "two"}]')
    assert {problem.field for problem in caught.value.problems} == {"parts.1.name", "parts.1.nam"}


def test_every_problem_is_told_at_once_in_the_words_that_were_typed() -> None:
    with pytest.raises(InvalidInput) as caught:
        parsed("--word", "ABC", "--count", "10", "--share", "half", "--colour", "green", "--parts", '{"nam": "x"}')
    problems = {(problem.field, problem.code) for problem in caught.value.problems}
    assert problems == {
        ("share", "wrong_type"),
        ("parts.0.name", "missing"),
        ("parts.0.nam", "unknown_field"),
        ("word", "wrong_form"),
        ("count", "too_large"),
        ("colour", "not_one_of"),
    }
    assert caught.value.shell_message is not None
    assert "--count: must be 9 or less" in caught.value.shell_message
    assert "--parts name: is required" in caught.value.shell_message


@pytest.mark.parametrize("number", ["1_000", " 1", "1.0", "0x1", "one", "", "\u0661", "9" * 5_000])
def test_a_number_is_digits_and_nothing_else(number: str) -> None:
    with pytest.raises(InvalidInput):
        parsed("--word", "a", "--count", number)


def test_an_option_without_its_value_is_a_wrong_word() -> None:
    with pytest.raises(click.UsageError):
        parsed("--word")


def test_durations_and_sizes_have_a_human_spelling(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"needle\n")
    assert hearth("fs", "search", "needle", "--timeout", "1.5m", "--max-file", "2KiB").status == 0
    for words in (("--timeout", "5"), ("--timeout", "-1s"), ("--max-file", "many"), ("--max-file", "1e3")):
        done = hearth("fs", "search", "needle", *words)
        assert done.status == 2
        assert "must be a" in done.err


def test_the_exact_and_the_human_spelling_do_not_mix(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"")
    assert hearth("fs", "search", "x", "--timeout", "1s", "--timeout-ms", "5").status == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("task submit --delay 1 true", "--delay: must be a duration"),
        ("task submit --timeout 0s true", "--timeout: must be 1 or more (milliseconds)"),
        ("task submit --timeout-ms 0 true", "--timeout-ms: must be 1 or more\n"),
        ("task list --job-state bad", "--job-state: must be one of"),
        ("task list --job-state failed --states bad", "--job-state 1: must be one of"),
        ("task submit --no-start --after x true", "--after: there is no job x"),
        ("fs read a --lines 5:2", "--lines: the last line must not stand before the first"),
        ("fs chmod huh a", "MODE: "),
        ("fs stat a --json", None),
        ("config set fs.sync true --user --project", "--project: takes no --user beside it"),
        ("call", "FAMILY.OPERATION: is required"),
    ],
)
def test_what_an_operation_itself_refuses_is_told_in_the_words_that_were_typed(
    work: Path, hearth: Hearth, words: str, told: str | None
) -> None:
    (work / "a").write_bytes(b"")
    done = hearth(*words.split())
    assert done.err.startswith(f"hearth: {told}") if told else done.err == ""
    assert done.status == (2 if told else 0)
