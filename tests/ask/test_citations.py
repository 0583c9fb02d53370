"""Markers in a streamed answer: every shape models write, cut anywhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.citations import CitationStream

# (what the model writes, what is shown, the sources cited), always with three sources.
SHAPES = [
    ("The tin holds the key [1].", "The tin holds the key [1].", [1]),
    ("The tin holds the key[1].", "The tin holds the key[1].", [1]),
    ("Both say so [1][2].", "Both say so [1][2].", [1, 2]),
    ("Both say so [1, 3].", "Both say so [1][3].", [1, 3]),
    ("A range [1-3].", "A range [1][2][3].", [1, 2, 3]),
    ("An endless range [2-999999999999].", "An endless range [2][3].", [2, 3]),
    ("锡罐里有钥匙【2】。", "锡罐里有钥匙[2]。", [2]),
    ("Full width ［１］ and ［2］.", "Full width [1] and [2].", [1, 2]),
    ("A footnote[^1].", "A footnote[1].", [1]),
    ("Carets [^1,^2].", "Carets [1][2].", [1, 2]),
    ("Doubled [[2]].", "Doubled [2].", [2]),
    ("Spaced [ 3 ].", "Spaced [3].", [3]),
    ("Labelled [ID:1] and [source: 2].", "Labelled [1] and [2].", [1, 2]),
    ("A link [1](http://evil.example/a) here.", "A link [1] here.", [1]),
    ("An image ![1](http://evil.example/x.png) here.", "An image here.", []),
    ("None [0] and too many [99].", "None and too many.", []),
    ("The year [2024], the years [1990-1995].", "The year, the years.", []),
    ("An array a[1] and code `b[2]`.", "An array a[1] and code `b[2]`.", []),
    ("```\nx = y[1]\n``` then [3].", "```\nx = y[1]\n``` then [3].", [3]),
    (
        "Not markers [1a] [b2] [-1] (1) ¹ [notes.md:81].",
        "Not markers [1a] [b2] [-1] (1) ¹ [notes.md:81].",
        [],
    ),
    ("Never closed [1", "Never closed [1", []),
    ("[3] first, [2] then, [3] again.", "[3] first, [2] then, [3] again.", [3, 2]),
    ("\x1b[31mred\x07 [1]\r\n", "[31mred [1]", [1]),
]


def run(chunks: list[str], sources: int = 3) -> tuple[str, CitationStream]:
    stream = CitationStream(sources)
    shown = "".join([stream.feed(chunk) for chunk in chunks])
    return shown + stream.close(), stream


@pytest.mark.parametrize(("written", "visible", "cited"), SHAPES)
def test_markers_are_kept_removed_or_left_as_text(written: str, visible: str, cited: list[int]) -> None:
    shown, stream = run([written])
    assert shown == visible
    assert stream.cited == cited


@given(st.sampled_from(SHAPES), st.data())
def test_every_shape_survives_any_cut(shape: tuple[str, str, list[int]], data: st.DataObject) -> None:
    written, visible, cited = shape
    shown, stream = run(cut(written, data))
    assert (shown, stream.cited) == (visible, cited)


alphabet = st.sampled_from(list("[]()!`^,-: .\n\t12390ab【】［］é\x00\r"))


@given(st.text(alphabet, max_size=80), st.integers(0, 4), st.data())
def test_chunk_borders_never_matter_and_no_marker_is_dead(
    text: str, sources: int, data: st.DataObject
) -> None:
    whole, one = run([text], sources)
    parts, other = run(cut(text, data), sources)
    assert (whole, one.markers) == (parts, other.markers)
    assert whole == one.text
    assert whole == whole.strip()
    assert "\x00" not in whole
    for marker in one.markers:
        assert 1 <= marker.n <= sources
        assert whole.startswith(f"[{marker.n}]", marker.position)


@given(st.text(max_size=200))
def test_text_without_brackets_and_ticks_is_shown_as_it_is(text: str) -> None:
    plain = re.sub(r"[\[\]［］【】`\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd]", "", text).strip()
    assert run([plain])[0] == plain


def test_what_can_be_shown_is_shown_at_once() -> None:
    stream = CitationStream(2)
    assert stream.feed("The key is") == "The key is"
    assert stream.feed(" in the tin [") == " in the tin"
    assert stream.feed("1]") == ""
    assert stream.feed(".") == " [1]."


def cut(text: str, data: st.DataObject) -> list[str]:
    borders = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
