"""The job engine: embedded in any hearth process that looks after jobs, several of which share one database."""
