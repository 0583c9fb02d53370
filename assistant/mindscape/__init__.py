"""Mindscape: an embedded, local-first document assistant."""

__version__ = "0.1.0"
