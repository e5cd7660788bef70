"""The rows of hearth's own care; they show at top level."""

from hearth.operation import Family

FAMILY = Family("self", "Hearth's own care.", (), top_level=True)
