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
            hears_signals=True,
            live=True,
        ),
        Operation(
            "batch",
            "batch:run_programs",
            Effect.DESTROY,
            "Run several programs at once.",
            examples=(
                'hearth machine batch "make lint" "make test"',
                'hearth machine batch --fail-fast \'{"command": "make", "cwd": "docs"}\' "make -k test"',
            ),
            hears_signals=True,
        ),
        Operation(
            "which",
            "which:find_programs",
            Effect.READ,
            "Say which file a program's name means.",
            examples=("hearth machine which git", "hearth machine which git python3 make"),
        ),
        Operation(
            "env",
            "env:show_variables",
            Effect.READ,
            "List the variables that programs get.",
            examples=("hearth machine env", "hearth machine env --values PATH HOME"),
        ),
        Operation(
            "host_info",
            "host_info:host_info",
            Effect.READ,
            "Say what this machine is and has.",
            examples=("hearth machine host-info", "hearth machine host-info --json"),
        ),
    ),
)
