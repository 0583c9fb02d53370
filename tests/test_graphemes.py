"""What a reader takes for one character."""

from __future__ import annotations

import pytest

from mindscape.graphemes import is_boundary


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "e\u0301\u0323",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\U0001f44d\U0001f3fd",
        "\u2764\ufe0f",
        "1\ufe0f\u20e3",
        "\U0001f1e9\U0001f1ea",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "\u1112\u1161\u11ab",
        "\uac00\u11a8",
        "\u0915\u094d\u0937\u093f",
        "\u0e01\u0e33",
        "\u0e17\u0e35\u0e48",
        "\uff76\uff9e",
        "\r\n",
    ],
)
def test_a_cluster_is_cut_around_and_never_inside(cluster: str) -> None:
    text = f"a{cluster}b"
    cuts = [at for at in range(len(text) + 1) if is_boundary(text, at)]
    assert cuts == [0, 1, len(text) - 1, len(text)]


def test_flags_in_a_row_are_cut_in_pairs() -> None:
    flags = "\U0001f1e9\U0001f1ea" * 3
    assert [at for at in range(1, 6) if is_boundary(flags, at)] == [2, 4]
    assert is_boundary(flags, 3, since=1)


def test_words_and_syllables_may_be_cut() -> None:
    assert all(is_boundary("day \uac01\uac02", at) for at in range(7))
