"""`hearth operations` and `hearth schema`: what there is, for people and programs."""

from __future__ import annotations

from typing import Annotated, Any

from hearth import catalog
from hearth.cli.options import Globals
from hearth.errors import UnknownOperation, invalid
from hearth.model import Cli, Help, Items, State, model
from hearth.operation import Effect, Family, Operation, Surface, types_of

SURFACES = {
    Surface.CLI: "cli",
    Surface.MCP: "mcp",
    Surface.SCATTER: "scatter",
    Surface.RECIPE: "recipe",
}


@model
class ListOperations:
    family: Annotated[
        str | None, Cli(argument=True, completes="family"), Help("Only the operations of this family.")
    ] = None


@model
class OperationRow:
    operation: Annotated[str, Help("The name that `call`, recipes and events use.")]
    effect: Annotated[Effect, Help("What it may do.")]
    surfaces: Annotated[tuple[str, ...], Help("Where it can be reached.")]
    command: Annotated[str, Help("The words at the shell.")]
    summary: Annotated[str, Help("What it does.")]
    input_schema: Annotated[dict[str, Any] | None, Help("The JSON Schema of its input; only in JSON.")] = None


@model
class OperationTable:
    """Every operation, in the order of the families."""

    state: State = State.COMPLETED
    operations: Annotated[
        tuple[OperationRow, ...], Items(columns=("operation", "effect", "surfaces", "summary")), Help("The rows.")
    ]


def operations(options: Globals, given: ListOperations) -> OperationTable:
    """Raises `UnknownOperation` for a family that does not exist."""
    families = [catalog.family(given.family)] if given.family else [catalog.family(name) for name in catalog.FAMILIES]
    rows = [
        OperationRow(
            operation=f"{family.name}.{row.name}",
            effect=row.effect,
            surfaces=tuple(word for surface, word in SURFACES.items() if surface in row.surfaces),
            command=command_of(family, row),
            summary=row.summary,
            input_schema=_input_schema(family.load(row.target)) if options.output.machine_readable else None,
        )
        for family in families
        for row in family.operations
    ]
    return OperationTable(operations=tuple(rows))


def command_of(family: Family, row: Operation) -> str:
    """The words that reach a row at the shell."""
    return " ".join(("hearth", *(() if family.top_level else (family.name,)), *row.at_shell))


def _input_schema(function: Any) -> dict[str, Any]:
    from hearth import check

    return check.input_schema(types_of(function)[0])


@model
class ShowSchema:
    operation: Annotated[
        str,
        Cli(argument=True, metavar="FAMILY[.OPERATION]", completes="operation"),
        Help("The operation, or a family for the tool that serves it."),
    ]
    exact: Annotated[
        bool, Help("Of a family: the exact union of its operations' inputs, which not every host accepts as a tool's.")
    ] = False


@model
class OperationSchema:
    """The JSON Schemas (draft 2020-12) of an operation."""

    state: State = State.COMPLETED
    operation: Annotated[str, Help("The name of the operation.")]
    input: Annotated[dict[str, Any], Help("What it accepts.")]
    result: Annotated[dict[str, Any], Help("What it answers with, beside `version` and `error`.")]


@model
class ToolSchema:
    """The JSON Schemas of the tool that serves a family."""

    state: State = State.COMPLETED
    family: Annotated[str, Help("The family.")]
    input: Annotated[dict[str, Any], Help("What the tool accepts, with the operation's name in `operation`.")]


def schema(options: Globals, given: ShowSchema) -> OperationSchema | ToolSchema:
    """Raises `UnknownOperation`, `InvalidInput`."""
    from hearth import check

    if given.exact and "." in given.operation:
        raise invalid("exact", "not_both", "the schema of one operation is exact anyway")
    if "." not in given.operation:
        made = _tool_schema(given)
        options.output.json = True
        return made
    family, row = catalog.find(given.operation)
    options.output.json = True  # a schema is JSON, whoever reads it
    input_type, result_type = types_of(family.load(row.target))
    return OperationSchema(
        operation=f"{family.name}.{row.name}",
        input=check.input_schema(input_type),
        result=check.result_schema(result_type),
    )


def _tool_schema(given: ShowSchema) -> ToolSchema:
    from hearth.mcp import schema as tools

    family = catalog.family(given.operation)
    rows = tools.rows_of(family)
    if family.top_level or not rows:
        raise UnknownOperation(f"no tool serves {given.operation}")
    made = tools.exact(family) if given.exact else tools.tool(family, rows, family.name)["inputSchema"]
    return ToolSchema(family=family.name, input=made)
