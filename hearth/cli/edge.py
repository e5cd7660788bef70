"""Commands that belong to the shell alone: they reach operations rather than being some.

Their rows have the shape of every other row, so words, help, completions and the reference come the same way; but a
function here is handed the global options, and it answers with a result or with the exit status of what it showed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hearth.operation import Effect, Family, Operation, Surface

if TYPE_CHECKING:
    from hearth.cli.options import Globals


def _row(
    name: str,
    target: str,
    summary: str,
    *examples: str,
    words: tuple[str, ...] = (),
    effect: Effect = Effect.READ,
) -> Operation:
    return Operation(
        name, target, effect, summary, examples=examples, surfaces=Surface.CLI, words=words, storeless=True
    )


FAMILY = Family(
    "shell",
    "The shell's own commands.",
    (
        _row(
            "call",
            "call:call",
            "Call an operation with JSON, or many in a batch.",
            'hearth call fs.stat \'{"path": "README.md"}\'',
            "hearth call fs.stat @input.json",
            "hearth call --batch --jobs 4 < requests.ndjson",
        ),
        _row(
            "serve",
            "serve:serve",
            "Serve AI assistants and other clients of the Model Context Protocol.",
            "hearth serve",
            "hearth serve --stdio --root ~/notes",
            "hearth serve --port 0 --json",
            effect=Effect.DESTROY,
        ),
        _row(
            "operations",
            "listing:operations",
            "List every operation: what it does and where it can be reached.",
            "hearth operations",
            "hearth operations --json",
        ),
        _row(
            "schema",
            "listing:schema",
            "Show the JSON Schemas of an operation's input and result, or of a family's tool.",
            "hearth schema fs.stat",
            "hearth schema fs",
            "hearth schema fs --exact",
        ),
        _row(
            "demo",
            "demo:demo",
            "Take a tour: real operations in a temporary folder.",
            "hearth demo",
            "hearth demo --keep",
            effect=Effect.WRITE,
        ),
        _row(
            "completion_show",
            "completion.command:show",
            "Print the completion script of a shell.",
            "hearth completion show bash",
            "hearth completion show powershell | Out-String | Invoke-Expression",
            words=("completion", "show"),
        ),
        _row(
            "completion_install",
            "completion.command:install",
            "Write the completion script where the shell looks for it.",
            "hearth completion install",
            "hearth completion install --shell zsh",
            words=("completion", "install"),
            effect=Effect.WRITE,
        ),
        _row(
            "complete",
            "completion.command:complete_ids",
            "Print the ids that begin so.",
            words=("__complete",),
        ),
    ),
    package="hearth.cli",
    top_level=True,
)


def run(options: Globals, row: Operation, given: Any) -> int:
    """Run one of the shell's own commands; the exit status."""
    answer = FAMILY.load(row.target)(options, given)
    if isinstance(answer, int):
        return answer
    from hearth.answers import Answer
    from hearth.cli import render
    from hearth.cli.exit_status import exit_status

    made = Answer(row.name, answer.state, result=answer)
    render.show(made, options.output)
    return exit_status(made)
