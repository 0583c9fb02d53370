"""What is left is counted, and how long it takes is known once something was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindscape.daemon.estimate import Estimate, Pace
from mindscape.library import Library
from mindscape_storage import left, vectors
from mindscape_storage.left import passages_left
from tests.storage.build import WIDTH, embedded, lines, put


def test_the_pace_is_unknown_at_first_and_then_follows_what_is_measured() -> None:
    pace = Pace()
    assert (pace.seconds(5), pace.seconds(0)) == (None, 0.0)
    pace.took(10, 20.0)
    assert pace.seconds(5) == 10.0
    pace.took(10, 60.0)
    assert pace.seconds(5) == 20.0
    for _ in range(100):
        pace.took(10, 10.0)
    assert pace.seconds(5) == 5.0


async def test_what_is_left_is_counted_without_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(tmp_path / "library.db")
    estimate = Estimate(library)
    await library.write(lambda c: put(c, b"/notes/a.md", lines("one", "two", "three")))
    await library.write(lambda c: put(c, b"/notes/b.md", lines("four")))
    assert (await estimate.left(None))["embedded"] == {"items": None, "seconds": None}
    encoder = await library.write(lambda c: vectors.encoder_id(c, "e", WIDTH))
    first = await library.read(lambda c: vectors.missing_inputs(c, encoder, 2))
    await library.write(
        lambda c: vectors.add_vectors(
            c, encoder, [key for key, _ in first], embedded([text for _, text in first])
        )
    )
    estimate.embedding.took(1, 3.0)
    counted = await estimate.left(encoder)
    assert counted["embedded"] == {"items": 2, "seconds": 6.0}
    assert counted["summarised"]["items"] >= 2
    assert counted["summarised"]["seconds"] is None
    monkeypatch.setattr(left, "LOOKED_AT", 3)
    assert await library.read(lambda c: passages_left(c, encoder)) == 2
    monkeypatch.setattr(left, "LOOKED_AT", 0)
    assert await library.read(lambda c: passages_left(c, encoder)) == 4
    library.close()
