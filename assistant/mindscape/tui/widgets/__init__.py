"""One widget a file, its style beside it."""
