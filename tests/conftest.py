"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A loaded machine is no failure.
settings.register_profile("mindscape", deadline=None)
settings.load_profile("mindscape")


@pytest.fixture(scope="session", autouse=True)
def no_settings_from_outside() -> Iterator[None]:
    """A program that a test starts takes no settings from our environment, and refuses none it holds.

    Where the tests themselves look for data (MINDSCAPE_SHARED) is read by then, on import.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("MINDSCAPE_")]:
            patch.delenv(name)
        yield


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes name no test: an archive made at collection holds the time, which differs between workers."""
    return argname if isinstance(val, bytes) else None
