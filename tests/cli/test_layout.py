"""Wrapping and snippets: nothing is lost, nothing is wider than the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mindscape.cli.layout import Flow, cells, clip, wrap
from mindscape.cli.snippet import matches, snippet

# Control characters never get here (`printable` comes first).
TEXTS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t 漢é\u0301👨"), max_size=300
)


@given(TEXTS, st.integers(2, 40))
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in wrap(text, width))


@given(TEXTS, st.integers(2, 40))
def test_wrapping_loses_nothing_but_white_space(text: str, width: int) -> None:
    assert "".join("".join(wrap(text, width)).split()) == "".join(text.split())


@given(st.lists(TEXTS, max_size=20), st.none() | st.integers(2, 40))
def test_pieces_are_wrapped_as_the_whole_is(pieces: list[str], width: int | None) -> None:
    def written(parts: list[str]) -> str:
        shown: list[str] = []
        flow = Flow(shown.append, width)
        for part in parts:
            flow.feed(part)
        flow.close()
        return "".join(shown)

    assert written(pieces) == written(["".join(pieces)])


def test_text_off_a_terminal_keeps_its_spaces_and_lines() -> None:
    shown: list[str] = []
    flow = Flow(shown.append, None)
    flow.feed("  one   two\n\n  three")
    flow.close()
    assert "".join(shown) == "  one   two\n\n  three\n"


def test_chinese_breaks_between_characters_and_words_between_words() -> None:
    assert wrap("里斯本的渡轮", 5) == ["里斯", "本的", "渡轮"]
    assert wrap("the ferry leaves", 9) == ["the ferry", "leaves"]


@given(TEXTS, st.integers(1, 40))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert cells(clip(text, width)) <= max(1, width)


@given(TEXTS, TEXTS, st.integers(20, 200))
def test_any_query_gives_a_snippet_that_fits(query: str, text: str, size: int) -> None:
    assert cells(snippet(text, matches(query), size)) <= size


def test_a_snippet_begins_where_most_of_the_words_are() -> None:
    text = "ferry " + "filler words " * 60 + "the ferry leaves every twenty minutes " + "more filler " * 60
    assert "leaves every twenty minutes" in snippet(text, matches("when leaves the ferry minutes"), 120)


def test_short_words_are_emphasised_only_when_there_are_no_others() -> None:
    long, short = matches("what is a ferry"), matches("c#")
    assert long is not None
    assert short is not None
    assert [found[0] for found in long.finditer("This is what ferries ferry.")] == ["what", "ferry"]
    assert short.search("in c")
    assert matches("?!") is None
