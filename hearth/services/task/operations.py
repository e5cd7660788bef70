"""The rows of the task family."""

from hearth.operation import Effect, Family, Operation

FAMILY = Family(
    "task",
    "Jobs that run in the background and survive everything.",
    (
        Operation(
            "submit",
            "submit:submit",
            Effect.WRITE,
            "Queue programs to run.",
            examples=(
                "hearth task submit -- make test",
                "hearth task submit --delay 10m --retry attempts=3,delay=5s -- curl -fO https://example.org/data.csv",
                "hearth task submit --after job_01m8ptc6 --wait -- make package",
            ),
            hears_signals=True,
            live=True,
        ),
        Operation(
            "get",
            "get:get",
            Effect.READ,
            "Say everything about a job.",
            examples=("hearth task get job_01m8ptc6",),
        ),
        Operation(
            "list",
            "list:list_jobs",
            Effect.READ,
            "List jobs, the newest first.",
            examples=("hearth task list", "hearth task list --job-state failed --group nightly"),
        ),
        Operation(
            "wait",
            "wait:wait",
            Effect.READ,
            "Wait for jobs; the exit status tells how they ended.",
            examples=(
                "hearth task wait job_01m8ptc6 --timeout 10m",
                "hearth task wait --label release",
                "hearth task wait job_01m8ptc6 job_01m8ptc7 --any",
            ),
            hears_signals=True,
        ),
        Operation(
            "cancel",
            "cancel:cancel",
            Effect.DESTROY,
            "End jobs, and answer once they are gone.",
            examples=("hearth task cancel job_01m8ptc6", "hearth task cancel --group nightly --grace 30s"),
            hears_signals=True,
        ),
        Operation(
            "status",
            "get:get",
            Effect.READ,
            "Say everything about a job; another name of get.",
            examples=("hearth task status job_01m8ptc6",),
        ),
        Operation(
            "logs",
            "logs:logs",
            Effect.READ,
            "Show what a job printed, or prints.",
            examples=(
                "hearth task logs job_01m8ptc6",
                "hearth task logs job_01m8ptc6 --follow",
                "hearth task logs job_01m8ptc6 --stream stderr --tail 20",
            ),
            hears_signals=True,
            live=True,
        ),
        Operation(
            "groups",
            "groups:list_groups",
            Effect.READ,
            "List groups, their limits, and what is queued and runs in them.",
            examples=("hearth task groups",),
        ),
        Operation(
            "group",
            "groups:limit_group",
            Effect.WRITE,
            "Set how many jobs of a group run at once.",
            examples=("hearth task group downloads --parallel 2", "hearth task group downloads --default"),
        ),
        Operation(
            "pause",
            "pause:pause",
            Effect.WRITE,
            "Start no more jobs of a group; what runs goes on.",
            examples=("hearth task pause downloads", "hearth task pause --all"),
        ),
        Operation(
            "resume",
            "pause:resume",
            Effect.WRITE,
            "Start the jobs of a paused group again.",
            examples=("hearth task resume downloads",),
        ),
        Operation(
            "stats",
            "stats:stats",
            Effect.READ,
            "Say how long jobs wait and run, and how they end.",
            examples=("hearth task stats", "hearth task stats --last 6h --json"),
        ),
        Operation(
            "workers",
            "workers:list_workers",
            Effect.READ,
            "List the processes that look after jobs.",
            examples=("hearth task workers",),
        ),
    ),
)
