"""Hearth's own care: settings, database, diagnosis."""
