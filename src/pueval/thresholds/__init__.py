"""Internal: rules that choose a threshold, what a chosen threshold achieves, and measure curves."""
