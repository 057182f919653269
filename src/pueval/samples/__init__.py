"""Internal: sorted scores of each kind of rows, their cumulative counts, bins and histograms."""
