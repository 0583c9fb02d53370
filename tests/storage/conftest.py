"""A new library in a temporary file for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mindscape_storage.database import Connection, open_writer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def conn(path: Path) -> Iterator[Connection]:
    connection = open_writer(path)
    yield connection
    connection.close()
