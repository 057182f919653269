"""Benchmark of the estimators of the prior and the purity."""
