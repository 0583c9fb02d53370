"""The windows of the baseline: 1,200 tokens, 100 of them shared with the next, nothing left out."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mindscape.evaluate.windows import OVERLAP, TOKENS, windows
from mindscape.ingest.passages import count_tokens


@given(st.text(max_size=80), st.integers(2, 9), st.integers(0, 1))
def test_windows_hold_the_whole_text_in_order(text: str, tokens: int, overlap: int) -> None:
    found = windows(text, tokens, overlap)
    assert bool(found) == bool(count_tokens(text))
    if found:
        assert (found[0][0], found[-1][1]) == (0, len(text))
        assert all(one[0] < two[0] <= one[1] < two[1] for one, two in pairwise(found))


def test_a_window_has_its_tokens_and_shares_its_last_with_the_next() -> None:
    text = " ".join(f"word{number}" for number in range(2_000))  # two tokens each
    found = windows(text)
    sizes = [count_tokens(text[start:end]) for start, end in found]
    assert sizes == [TOKENS, TOKENS, TOKENS, 4_000 - 3 * (TOKENS - OVERLAP)]
    for one, two in pairwise(found):
        assert count_tokens(text[two[0] : one[1]]) == OVERLAP


def test_a_text_that_ends_with_a_window_has_no_further_one() -> None:
    text = "word " * TOKENS
    assert windows(text) == [(0, len(text))]


def test_characters_without_spaces_are_a_token_each() -> None:
    text = "\u6f6e" * 2_500
    assert windows(text) == [(0, 1_200), (1_100, 2_300), (2_200, 2_500)]
