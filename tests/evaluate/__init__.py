"""Of `mindscape eval`."""
