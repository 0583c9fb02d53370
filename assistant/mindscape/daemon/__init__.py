"""The daemon: one process that watches, indexes and answers. `main.py` puts the parts together."""
