"""The rows of hearth's own care; they show at top level."""

from hearth.operation import Effect, Family, Operation, Surface

# Looking at the database is storeless: it makes none, and leaves no event in what it looks at.
FAMILY = Family(
    "self",
    "Hearth's own care.",
    (
        Operation(
            "db_path",
            "db:show_path",
            Effect.READ,
            "Say where the database is.",
            examples=("hearth db path",),
            surfaces=Surface.CLI,
            words=("db", "path"),
            storeless=True,
        ),
        Operation(
            "db_tables",
            "db:tables",
            Effect.READ,
            "List the tables with their rows and bytes.",
            examples=("hearth db tables",),
            surfaces=Surface.CLI,
            words=("db", "tables"),
            storeless=True,
        ),
        Operation(
            "db_schema",
            "db:schema",
            Effect.READ,
            "Print the statements that make the tables.",
            examples=("hearth db schema events",),
            surfaces=Surface.CLI,
            words=("db", "schema"),
            storeless=True,
        ),
        Operation(
            "db_query",
            "db_query:query",
            Effect.READ,
            "Run a SELECT; nothing else gets through.",
            examples=(
                'hearth db query "SELECT operation, count(*) AS calls FROM events GROUP BY operation"',
                'hearth db query "SELECT * FROM events WHERE entity = :path" --param path=/tmp/a --ndjson',
            ),
            surfaces=Surface.CLI,
            words=("db", "query"),
            storeless=True,
        ),
        Operation(
            "db_backup",
            "db_backup:backup",
            Effect.WRITE,
            "Copy the database into a new file while others use it.",
            examples=("hearth db backup hearth-backup.sqlite3",),
            surfaces=Surface.CLI,
            words=("db", "backup"),
        ),
        Operation(
            "db_vacuum",
            "db_backup:vacuum",
            Effect.WRITE,
            "Give free pages back to the disk.",
            examples=("hearth db vacuum",),
            surfaces=Surface.CLI,
            words=("db", "vacuum"),
        ),
        Operation(
            "db_check",
            "db:check",
            Effect.READ,
            "Say whether the database is whole.",
            examples=("hearth db check --full",),
            surfaces=Surface.CLI,
            words=("db", "check"),
            storeless=True,
        ),
    ),
    top_level=True,
)
