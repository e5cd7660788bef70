"""Everything that differs between operating systems, under the same names."""
