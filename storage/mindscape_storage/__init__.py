"""Everything Mindscape knows, in one SQLite file: owns all SQL; its nouns are in `records`."""
