"""One durable, bounded way to work a computer."""

__version__ = "0.1.0"
