"""Internal: the command line. One module per command; `app` puts them together."""
