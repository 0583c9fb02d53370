"""Inference: text in, numbers or text out. Knows no database, no configuration and no application."""
