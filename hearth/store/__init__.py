"""The database and the content-addressed bodies beside it."""
