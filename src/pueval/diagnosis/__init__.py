"""Internal: what a file holds, what can be known from it, and what looks wrong."""
