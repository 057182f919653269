"""Internal: what audited rows, labels and scores say together about the positives."""
