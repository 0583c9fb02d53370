"""Files with bytes changed and cut off: what any parser must survive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import ParseFailure, Source


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes set to others at some places, and everything from `cut` on gone."""

    changes: tuple[tuple[int, int], ...]
    cut: int

    def of(self, data: bytes) -> bytes:
        """The damaged data."""
        damaged = bytearray(data)
        for at, byte in self.changes:
            damaged[at] = byte
        return bytes(damaged[: self.cut])


def damage(length: int) -> st.SearchStrategy[Damage]:
    """Damage to a file of `length` bytes; half of it is not cut."""
    change = st.tuples(st.integers(0, length - 1), st.integers(0, 255))
    return st.builds(
        Damage,
        st.lists(change, max_size=20).map(tuple),
        st.one_of(st.just(length), st.integers(0, length)),
    )


def assert_read_or_refused(name: str, data: bytes) -> None:
    """The file is parsed, or refused with a sentence; nothing else is raised."""
    try:
        result = parse(Source(Path(name), data))
    except ParseFailure as refused:
        sentence = refused.reason
    else:
        assert_well_formed(result)
        return
    assert sentence.endswith(".")
