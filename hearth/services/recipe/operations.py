"""The rows of the recipe family."""

from hearth.operation import Effect, Family, Operation, Surface

FAMILY = Family(
    "recipe",
    "Calls that were written down once, to be made again.",
    (
        Operation(
            "suggest",
            "suggest:suggest",
            Effect.READ,
            "Suggest recipes for what was done again and again.",
            examples=("hearth recipe suggest", "hearth recipe suggest --threshold 5 --all"),
            surfaces=Surface.CLI | Surface.MCP,
            stream="suggest:stream",
            lengthy=True,
        ),
    ),
)
