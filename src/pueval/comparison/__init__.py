"""Internal: `compare`, several models on the same rows, paired row by row."""
