"""Ids by how they begin, for a shell that completes them: nothing is made, nothing migrated, no lock is waited for."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from hearth.store.database import FILE_NAME

_STATEMENTS = {
    "artifact": "SELECT id FROM artifacts WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id DESC LIMIT :limit",
    "group": """
        WITH RECURSIVE names (id) AS (
            SELECT min(group_name) FROM jobs WHERE group_name >= :prefix AND group_name < :prefix || '~'
            UNION ALL
            SELECT (SELECT min(group_name) FROM jobs WHERE group_name > names.id AND group_name < :prefix || '~')
            FROM names WHERE names.id IS NOT NULL LIMIT :limit
        )
        SELECT id FROM names WHERE id IS NOT NULL
        UNION SELECT name FROM job_groups WHERE name >= :prefix AND name < :prefix || '~' LIMIT :limit
    """,
    "job": "SELECT id FROM jobs WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id DESC LIMIT :limit",
    "receipt": "SELECT id FROM receipts WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id DESC LIMIT :limit",
    "schedule": "SELECT name FROM schedules WHERE name >= :prefix AND name < :prefix || '~' ORDER BY name LIMIT :limit",
}


def starting_with(data_dir: str, kind: str, prefix: str, limit: int) -> list[str]:
    """The newest ids of a kind that begin with `prefix`, at most `limit`; none where there is no database yet."""
    path = os.path.join(data_dir, FILE_NAME)
    if kind not in _STATEMENTS or not os.path.exists(path):
        return []
    try:
        with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            rows = connection.execute(_STATEMENTS[kind], {"prefix": prefix, "limit": limit})
            return [row[0] for row in rows]
    except sqlite3.Error:
        return []  # a shell that completes a word is no place for an error
