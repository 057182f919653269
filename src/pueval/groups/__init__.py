"""Internal: `evaluate_by`, the same evaluation for every group of rows, in one pass."""
