"""The tables and figures of five papers, made again by pueval on real data."""
