"""The rows of the machine."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "machine",
    "Programs and processes of this machine.",
    (
        Operation(
            "exec",
            "exec:run_program",
            Effect.DESTROY,
            "Run a program; no shell reads its words.",
            examples=(
                "hearth machine exec git status",
                "hearth machine exec --timeout 30s --cwd src -- make -k test",
                "hearth machine exec --json python3 --version",
            ),
            live=True,
        ),
    ),
)
