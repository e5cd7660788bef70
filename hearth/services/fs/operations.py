"""The rows of the fs family."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "fs",
    "Files and directories, inside the roots.",
    (
        Operation(
            "write",
            "write:write",
            Effect.WRITE,
            "Write a file, whole or at its end.",
            examples=(
                'hearth fs write notes.md --data "hello"',
                "hearth fs write report.csv --create-only < report.tmp",
                "hearth fs write log.txt --append --from today.txt",
            ),
        ),
        Operation(
            "stat",
            "stat:stat",
            Effect.READ,
            "Say what stands under a path.",
            examples=("hearth fs stat README.md", "hearth fs stat --no-follow current --json"),
        ),
    ),
)
