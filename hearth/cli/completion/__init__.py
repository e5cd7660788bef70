"""Completion scripts for four shells, made from the catalog."""
