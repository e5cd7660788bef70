"""The rows of the artifact family. Over MCP it only reads."""

from hearth.operation import Effect, Family, Operation, Surface

FAMILY = Family(
    "artifact",
    "Outputs that are kept: what programs printed, large answers.",
    (
        Operation(
            "list",
            "list:list_artifacts",
            Effect.READ,
            "List artifacts, the newest first.",
            examples=("hearth artifact list", "hearth artifact list --media-type text/ --operation machine.exec"),
        ),
        Operation(
            "metadata",
            "metadata:metadata",
            Effect.READ,
            "Say what an artifact is.",
            examples=("hearth artifact metadata art_01m8ptc6", "hearth artifact metadata art_01m8ptc6 --verify --json"),
        ),
        Operation(
            "read",
            "read:read",
            Effect.READ,
            "Read an artifact, or a part of it.",
            examples=("hearth artifact read art_01m8ptc6", "hearth artifact read art_01m8ptc6 --tail 20"),
            stream="read:stream",
        ),
        Operation(
            "range",
            "range:read_range",
            Effect.READ,
            "Read bytes of an artifact from an offset on.",
            examples=("hearth artifact range art_01m8ptc6 --offset 70045 --limit 400",),
        ),
        Operation(
            "search",
            "search:search",
            Effect.READ,
            "Search an artifact for a text or an expression.",
            examples=(
                "hearth artifact search art_01m8ptc6 error",
                "hearth artifact search art_01m8ptc6 --regex 'warning: \\w+' -n 5",
            ),
            lengthy=True,
        ),
        Operation(
            "put",
            "put:put",
            Effect.WRITE,
            "Keep a file or standard input as an artifact.",
            examples=("hearth artifact put report.html --label report", "echo hello | hearth artifact put"),
            surfaces=Surface.CLI,
        ),
        Operation(
            "export",
            "export:export",
            Effect.WRITE,
            "Write an artifact to a file.",
            examples=("hearth artifact export art_01m8ptc6 build.log",),
            surfaces=Surface.CLI,
        ),
        Operation(
            "pin",
            "pin:pin",
            Effect.WRITE,
            "Keep artifacts whatever their age and size.",
            examples=("hearth artifact pin art_01m8ptc6",),
            surfaces=Surface.CLI,
        ),
        Operation(
            "unpin",
            "pin:unpin",
            Effect.WRITE,
            "Leave artifacts to the rules of retention again.",
            examples=("hearth artifact unpin art_01m8ptc6",),
            surfaces=Surface.CLI,
        ),
        Operation(
            "delete",
            "delete:delete",
            Effect.DESTROY,
            "Delete artifacts.",
            examples=("hearth artifact delete art_01m8ptc6",),
            surfaces=Surface.CLI,
        ),
        Operation(
            "gc",
            "gc:collect",
            Effect.DESTROY,
            "Delete old artifacts, and those above the quota.",
            examples=("hearth artifact gc --dry-run", "hearth artifact gc --days 7 --most-bytes 1000000000"),
            surfaces=Surface.CLI,
        ),
    ),
)
