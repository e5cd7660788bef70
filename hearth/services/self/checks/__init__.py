"""What the doctor looks at: one module a subject, one function a check."""
