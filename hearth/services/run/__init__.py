"""The run family: what goes on beside single calls."""
