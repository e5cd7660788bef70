"""The rows of the fs family."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "fs",
    "Files and directories, inside the roots.",
    (
        Operation(
            "stat",
            "stat:stat",
            Effect.READ,
            "Say what stands under a path.",
            examples=("hearth fs stat README.md", "hearth fs stat --no-follow current --json"),
        ),
    ),
)
