"""Internal: numbers, tables and results as text, HTML and plain data."""
