"""Internal: rows with a value each, and lists of rows: `value_recovered`, `top_by_query`."""
