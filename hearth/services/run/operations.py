"""The rows of the run family."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "run",
    "Work of several calls, and what arrives of it.",
    (
        Operation(
            "arrivals",
            "arrivals:list_arrivals",
            Effect.READ,
            "Show once more what a conversation was told of.",
            examples=(
                "hearth run arrivals --conversation notes",
                "hearth run arrivals --conversation notes --since 12",
            ),
        ),
    ),
)
