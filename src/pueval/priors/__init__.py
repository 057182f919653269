"""Estimators of the prior and the purity."""
