"""Internal: measures that some fields report: probabilities, first rows, presence-only."""
