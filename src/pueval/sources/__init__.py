"""Internal: readers of arrays, data frames and files; each returns the samples of a Counts."""
