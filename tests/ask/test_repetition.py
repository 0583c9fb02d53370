"""What repeats itself for ever is stopped; anything else is shown as it is, however it is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape.ask.repetition import RepetitionGate

PROSE = (
    "Captain Lindqvist bought the ferry in 1987. It leaves Norrby at 7:40 every morning, and at 8:40, and at "
    "9:40. On Saturdays it leaves at 10:40. The keeper of the light keeps bees; so did the keeper before him."
)


def shown(pieces: list[str]) -> tuple[str, bool]:
    gate = RepetitionGate()
    text = "".join(gate.feed(piece) for piece in pieces)
    return text + gate.close(), gate.stopped


@given(st.lists(st.integers(1, len(PROSE) - 1), max_size=12))
def test_prose_comes_through_whole_in_any_pieces(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(PROSE)]
    pieces = [PROSE[a:b] for a, b in pairwise(edges)]
    assert shown(pieces) == (PROSE, False)


@given(st.text(max_size=120))
def test_no_short_text_is_changed_unless_it_is_copies_or_blank(text: str) -> None:
    said, stopped = shown([text])
    assert stopped or said == text


@settings(max_examples=50, deadline=None)
@given(
    st.text(st.characters(categories=("L", "Nd", "Zs", "Po")), min_size=4, max_size=150), st.integers(1, 9)
)
def test_any_sentence_with_letters_is_stopped_when_it_comes_for_ever(sentence: str, cut: int) -> None:
    if sum(char.isalpha() for char in sentence) < 4:
        return
    gate = RepetitionGate()
    text = sentence * 40
    said = "".join(gate.feed(text[at : at + cut]) for at in range(0, len(text), cut)) + gate.close()
    assert gate.stopped
    assert len(said) <= 2 * len(sentence) + 1


def test_the_first_copy_is_shown_once_with_its_marker() -> None:
    assert shown(["The key is in the tin [1].", *[" The key is in the tin."] * 50]) == (
        "The key is in the tin [1]. ",
        True,
    )


@pytest.mark.parametrize("blank", [" ", "\n", "\t\n"])
def test_blanks_without_end_are_stopped_and_lose_nothing(blank: str) -> None:
    said, stopped = shown(["Yes, in the tin.", *[blank] * 200])
    assert (said.strip(), stopped) == ("Yes, in the tin.", True)


def test_a_refrain_and_a_table_are_not_cut() -> None:
    for text in (
        "Row, row, row your boat, row, row, row your boat gently. Row again [1].",
        "| yes | yes |\n" * 7,
        "ha ha ha ha ha ha!",
        "1 2 3 4 5 6 7 8 9 " * 40,
    ):
        assert shown(list(text)) == (text, False)


def test_ordinary_text_waits_for_a_few_letters_only() -> None:
    gate, shown = RepetitionGate(), 0
    for at, char in enumerate(PROSE, 1):
        shown += len(gate.feed(char))
        assert at - shown < 40
