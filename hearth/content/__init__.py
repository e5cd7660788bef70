"""The content of files and artifacts: its text, its lines, and what is looked for in it."""
