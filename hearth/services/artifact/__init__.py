"""The artifact family: outputs and other contents that are kept."""
