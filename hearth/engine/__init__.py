"""The durable job engine: what services, the worker and the server share of it."""
