"""Internal: `evaluate_over_time`, the same evaluation for every window of time, and alarms."""
