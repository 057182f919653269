"""Internal: `evaluate` and the `Evaluation` it returns."""
