"""Several calls as one."""
