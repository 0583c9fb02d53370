from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.harness import Daemon


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A running daemon with an empty library."""
    it = Daemon(tmp_path / "home", workers="1")
    assert it.start() == "ready"
    yield it
    if it.process is not None and it.process.poll() is None:
        it.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of notes to watch."""
    notes = tmp_path / "notes"
    notes.mkdir()
    return notes
