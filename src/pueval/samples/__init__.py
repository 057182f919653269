"""Internal: sorted scores of one kind of rows, cumulative counts, bins and histograms."""
