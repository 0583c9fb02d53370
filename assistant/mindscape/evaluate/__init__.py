"""Measuring on sets with known answers. Read `runs.py` first: index, search and ask, score, write down."""
