"""Internal: numbers and tables as text, HTML and plain data."""
