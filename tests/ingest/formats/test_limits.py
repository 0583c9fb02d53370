"""Files made to hurt: bounded time and memory, nothing outside is opened, and what is not read is said."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed

BOMBS = {
    "aliases": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "nested lists": "x: " + "[" * 60_000,
    "nested maps": "x: " + "{a: " * 15_000,
    "deep block": "".join(" " * depth + "k:\n" for depth in range(300)),
    "huge number": "x: " + "9" * 60_000,
    "no such day": "date: 2024-02-30",
    "a class": "x: !!python/object/apply:os.system ['exit 1']",
    "merged": "x: &x {<<: *x}",
    "a megabyte": "".join(f"key{number}: value {number}\n" for number in range(50_000)),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_properties_that_would_explode_cost_nothing(bomb: str) -> None:
    text = f"---\ntitle: Tower\n{bomb}\n---\nThe bodyword stands here.\n"
    result = parsed("a.md", text)
    assert result.text == text
    assert len(str(result.metadata)) <= 2 * len(text)
