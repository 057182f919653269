"""Comparison with other libraries on the same rows: python -m benchmarks.peers."""
