"""Internal: the formulas of the papers; NumPy and SciPy only."""
