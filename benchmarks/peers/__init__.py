"""Other libraries on the same rows with known truth: python -m benchmarks.peers."""
