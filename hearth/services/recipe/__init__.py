"""The recipe family: calls that were written down once, to be made again with other parameters."""
