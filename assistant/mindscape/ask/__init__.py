"""Questions out. Read `pipeline.py` first: retrieve, judge, then quote or answer, then check."""
