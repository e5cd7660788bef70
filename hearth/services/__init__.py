"""What the operations do: one folder a family."""
