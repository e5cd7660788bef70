"""Several calls as one: what flows between them, what waits for what, and who works on them.

Scatters and recipes are both made of this.
"""
