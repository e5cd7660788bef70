"""Where settings come from: files, environment, flags; which of them count, and how they are changed."""
