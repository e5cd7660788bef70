"""The machine: its programs and processes."""
