"""The rows of the fs family."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "fs",
    "Files and directories, inside the roots.",
    (
        Operation(
            "list",
            "list:list_directory",
            Effect.READ,
            "List what a directory holds.",
            examples=("hearth fs list", "hearth fs list src --depth 3 --glob '*.py' --no-ignored"),
        ),
        Operation(
            "find",
            "find:find",
            Effect.READ,
            "Find names in a tree.",
            examples=("hearth fs find '*.py' --in src", "hearth fs find --kind file --min-bytes 1000000"),
        ),
        Operation(
            "read",
            "read:read",
            Effect.READ,
            "Read files, or parts of them.",
            examples=("hearth fs read README.md --lines 10:40", "hearth fs read log.txt --tail 20 --json"),
            stream="read:stream",
        ),
        Operation(
            "search",
            "search:search",
            Effect.READ,
            "Search files for a text or an expression.",
            examples=("hearth fs search TODO src", "hearth fs search --regex 'def \\w+' --type py -C 2"),
        ),
        Operation(
            "stat",
            "stat:stat",
            Effect.READ,
            "Say what stands under a path.",
            examples=("hearth fs stat README.md", "hearth fs stat --no-follow current --json"),
        ),
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
    ),
)
