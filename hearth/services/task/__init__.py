"""The task family."""
