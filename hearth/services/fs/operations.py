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
        Operation(
            "mkdir",
            "mkdir:mkdir",
            Effect.WRITE,
            "Make a directory.",
            examples=("hearth fs mkdir -p build/reports",),
        ),
        Operation(
            "move",
            "move:move",
            Effect.WRITE,
            "Move or rename a file, link or directory.",
            examples=("hearth fs move draft.md final.md", "hearth fs move a.log logs/"),
        ),
        Operation(
            "copy",
            "copy:copy",
            Effect.WRITE,
            "Copy a file, link or directory.",
            examples=("hearth fs copy a.txt b.txt", "hearth fs copy -r site site.bak"),
        ),
        Operation(
            "delete",
            "delete:delete",
            Effect.DESTROY,
            "Delete a file, link or directory.",
            examples=("hearth fs delete old.txt", "hearth fs delete -r build", "hearth fs delete -r cache --permanent"),
        ),
        Operation(
            "chmod",
            "chmod:chmod",
            Effect.WRITE,
            "Change permission bits.",
            examples=("hearth fs chmod u+x run.sh", "hearth fs chmod 640 secrets.ini"),
        ),
        Operation(
            "undo",
            "undo:undo",
            Effect.WRITE,
            "Take changes back.",
            examples=("hearth fs undo --last", "hearth fs undo --group refactoring --dry-run"),
        ),
        Operation(
            "redo",
            "redo:redo",
            Effect.WRITE,
            "Make undone changes again.",
            examples=("hearth fs redo --last",),
        ),
        Operation(
            "history",
            "history:history",
            Effect.READ,
            "List changes, the newest first.",
            examples=("hearth fs history notes.md", "hearth fs history --since 2026-01-31T00:00:00Z"),
        ),
    ),
)
