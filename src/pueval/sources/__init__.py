"""Where rows come from: arrays, data frames, files. Each gives the three samples of a Counts."""
