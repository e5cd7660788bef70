"""The recipe family."""
