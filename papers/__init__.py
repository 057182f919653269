"""Tables and figures of five papers, reproduced with pueval on real data."""
