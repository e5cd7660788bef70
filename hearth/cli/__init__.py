"""The shell's edge: words in, text or JSON out."""
