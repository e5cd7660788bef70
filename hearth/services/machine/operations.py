"""The rows of the machine."""

from hearth.operation import Effect, Family, Operation, Surface

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
        Operation(
            "process_list",
            "process_list:list_processes",
            Effect.READ,
            "List the processes that run here.",
            examples=(
                "hearth machine process-list python --sort memory -n 10",
                "hearth machine process-list --port 8080 --ports --json",
                "hearth machine process-list --tree",
            ),
        ),
        Operation(
            "process_kill",
            "process_kill:kill",
            Effect.DESTROY,
            "End processes, and say what is really gone.",
            examples=(
                "hearth machine process-kill 4711 --tree",
                "hearth machine process-kill --name node --all --dry-run",
                "hearth machine process-kill 4711 --signal hup",
            ),
            surfaces=Surface.CLI | Surface.MCP | Surface.RECIPE,
        ),
        Operation(
            "process_wait",
            "process_wait:wait",
            Effect.READ,
            "Wait until a process ends, or a port listens or closes.",
            examples=(
                "hearth machine process-wait 4711 --timeout 1m",
                "hearth machine process-wait --port 8080 --timeout 30s",
                "hearth machine process-wait --port 8080 --until closes",
            ),
            waits=True,
        ),
    ),
)
