"""Errors of models: sentences that say what happened, to which file, and what to do."""

from __future__ import annotations


class ModelError(Exception):
    """Base of what can go wrong with a model: `str(error)` is a sentence."""


class BundleError(ModelError):
    """A bundle is incomplete, damaged or not understood."""


class GenerationError(ModelError):
    """A generator could not be opened or failed while it ran."""
