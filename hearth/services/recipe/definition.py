"""What a recipe is, in TOML, in JSON and in the store."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any

from hearth.model import Ge, Help, Le, Len, Pattern, model

MOST_STEPS = 1_000  # recipe_max_steps says how many of these there may be
MOST_ITEMS = 64
DAY_MS = 24 * 3_600_000
Name = Annotated[
    str,
    Len(1, 80),
    Pattern(r"^[A-Za-z0-9_.-]+$", "may hold letters, digits, dots, hyphens and underscores"),
]
Identifier = Annotated[
    str,
    Len(1, 80),
    Pattern(r"^[A-Za-z_][A-Za-z0-9_]*$", "must be a letter or underscore, then letters, digits and underscores"),
]


class ParameterType(StrEnum):
    """What a parameter's value is."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    PATH = "path"  # text that is a path, such as of a file that the shell completes
    CHOICE = "choice"  # one of `choices`
    SECRET = "secret"  # never stored and never shown; only for `env` and `stdin`


@model
class Parameter:
    """What a recipe is to be told."""

    type: Annotated[ParameterType, Help("What its value is.")] = ParameterType.STRING
    description: Annotated[str | None, Len(0, 1_000), Help("What it is for.")] = None
    default: Annotated[Any, Help("Its value where none is given.")] = None
    required: Annotated[bool | None, Help("Whether one must be given; by default where there is no default.")] = None
    pattern: Annotated[str | None, Len(1, 500), Help("A regular expression that all of a text must match.")] = None
    choices: Annotated[tuple[str, ...], Len(0, 64), Help("Of a choice: the values that there are.")] = ()


@model
class When:
    """The condition of a step: one of the four, about what a reference leads to."""

    ref: Annotated[dict[str, Any], Help('What is looked at, such as {"$step": "build", "$path": "state"}.')]
    equals: Annotated[Any, Help("It is this.")] = None
    not_equals: Annotated[Any, Help("It is something else.")] = None
    in_: Annotated[tuple[Any, ...] | None, Len(1, 64), Help("It is one of these.")] = None
    exists: Annotated[bool | None, Help("The reference leads somewhere, to something that is not null; or not.")] = None


@model
class Retry:
    """How often a step that failed is done again."""

    times: Annotated[int, Ge(1), Le(10), Help("Most times beyond the first.")] = 1
    delay_ms: Annotated[int, Ge(0), Le(DAY_MS), Help("The pause before the first of them; it doubles each time.")] = (
        1_000
    )


@model
class Step:
    """One call."""

    name: Annotated[Identifier | None, Help("What references and `needs` call it.")] = None
    primitive: Annotated[str, Len(1, 100), Help("The operation, such as machine.exec.")]
    input: Annotated[dict[str, Any], Help("Its input, with references.")] = field(default_factory=dict)
    when: Annotated[When | None, Help("It is skipped unless this holds.")] = None
    for_each: Annotated[Any, Help("A list, or a reference to one: the step is done for each `item` of it.")] = None
    needs: Annotated[
        tuple[str, ...] | None, Len(0, 64), Help("The steps that it waits for; by default the one before it.")
    ] = None
    timeout_ms: Annotated[int | None, Ge(1), Le(DAY_MS), Help("How long it may take.")] = None
    retry: Annotated[Retry | None, Help("How often it is done again when it failed.")] = None
    continue_on_error: Annotated[bool, Help("Whether what comes after it is done although it failed.")] = False
    always: Annotated[bool, Help("Whether it is done although the run failed or was taken back.")] = False


@model
class Definition:
    """A recipe."""

    name: Annotated[Name, Help("What it is called.")]
    description: Annotated[str | None, Len(0, 4_000), Help("What it does.")] = None
    parameters: Annotated[dict[Identifier, Parameter], Help("What it is to be told, by name.")] = field(
        default_factory=dict
    )
    steps: Annotated[tuple[Step, ...], Len(1, MOST_STEPS), Help("Its calls.")]
    outputs: Annotated[dict[Identifier, Any], Help("What it answers: values with references, by name.")] = field(
        default_factory=dict
    )
