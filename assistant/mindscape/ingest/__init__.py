"""Documents in. Read `pipeline.py` first; the stages follow its order: scan, parse, passages, embed."""
