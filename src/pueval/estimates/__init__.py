"""Internal: what an `Evaluation` returns: `Estimate`, operating points, curves and tables."""
