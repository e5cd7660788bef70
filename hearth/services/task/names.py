"""Names that are stored as they are said, such as those of groups."""

from __future__ import annotations

from hearth import secrets
from hearth.errors import SecretRefused


def refuse_secrets(**named: str | None) -> None:
    """Raise `SecretRefused` for one that holds a secret, whatever secrets.on_persist says: a name with a part taken out
    would be another thing's."""
    for field, text in named.items():
        if text and secrets.find(text):
            raise SecretRefused(
                f"{field} would be stored, and it holds a secret", hint="choose another word for it", field=field
            )
