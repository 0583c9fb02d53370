"""Everything Mindscape knows, in one SQLite file. Owns all SQL; its nouns are the frozen dataclasses of `records`."""
