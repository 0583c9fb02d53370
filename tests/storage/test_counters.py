"""Counters of work."""

from __future__ import annotations

import pytest

from mindscape_storage.counters import NAMES, bump, read_counters
from mindscape_storage.database import Connection


def test_counters_start_at_zero_and_add_up(conn: Connection) -> None:
    assert read_counters(conn) == dict.fromkeys(NAMES, 0)
    bump(conn, "parses")
    bump(conn, "parses", 4)
    assert read_counters(conn) == dict.fromkeys(NAMES, 0) | {"parses": 5}


def test_a_counter_nobody_reads_is_refused(conn: Connection) -> None:
    with pytest.raises(ValueError, match="'parsed'"):
        bump(conn, "parsed")
