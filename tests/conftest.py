"""What holds for every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A loaded machine is no failure.
settings.register_profile("mindscape", deadline=None)
settings.load_profile("mindscape")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes name no test: an archive made at collection holds the time, which differs between workers."""
    return argname if isinstance(val, bytes) else None
