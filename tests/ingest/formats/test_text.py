"""Plain text and source code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.decode import clean
from mindscape.ingest.parsed import ParseFailure
from mindscape.ingest.runs import MAX_RUN, MIN_RUN

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                " ",
                "CHAPTER IV",
                "Part One",
                "# x",
                "---",
                "```",
                "- a",
                "> q",
                "|a|b|",
                "|-|-|",
                "    code",
            ]
        ),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    ),
    max_size=14,
)
NAMES = st.sampled_from(["a.txt", "a.md", "a.py", "a.csv"])


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r"]), name=NAMES)
def test_text_like_text_is_the_file_code_point_for_code_point(lines: list[str], end: str, name: str) -> None:
    text = end.join(lines)
    try:
        result = parsed(name, b"\xef\xbb\xbf" + text.encode())
    except ParseFailure:
        return
    assert result.text_like
    assert result.text == clean(text)


def test_paragraphs_stand_between_blank_lines() -> None:
    result = parsed("a.txt", "one\ntwo\r\n \t\r\n  three  \r\rfour")
    assert slices(result, "paragraph") == ["one\ntwo", "three", "four"]


def test_chapters_that_stand_alone_are_sections() -> None:
    result = parsed(
        "a.txt", "Title\n\nBOOK ONE\n\nCHAPTER I. The Key\n\nIt rained.\n\nChapter 2\n\nIt stopped.\n"
    )
    assert [section.path for section in result.sections] == [
        ("BOOK ONE",),
        ("BOOK ONE", "CHAPTER I. The Key"),
        ("BOOK ONE", "Chapter 2"),
    ]
    assert slices(result, "heading") == ["BOOK ONE", "CHAPTER I. The Key", "Chapter 2"]


def test_chinese_chapters_are_sections() -> None:
    result = parsed("a.txt", "第一章 钥匙\n\n下雨了。\n\n第二章\n\n雨停了。\n")
    assert [section.heading for section in result.sections] == ["第一章 钥匙", "第二章"]


@pytest.mark.parametrize(
    "text",
    [
        "Chapter 3 was the best of them all, she said, and closed the book.\n\nThen she slept.",
        "CHAPTER I\nCHAPTER II\nCHAPTER III\n\nText.",
        "I read chapter 4\n\nText.",
        "Part of the way\n\nText.",
    ],
)
def test_prose_about_chapters_is_not_a_heading(text: str) -> None:
    assert parsed("a.txt", text).sections == ()


def test_a_table_of_contents_opens_no_sections() -> None:
    result = parsed("a.txt", "CHAPTER I\n\nCHAPTER II\n\nCHAPTER I\n\nText.\n\nCHAPTER II\n\nMore.")
    assert len(result.sections) == 2


def test_a_line_of_two_megabytes_is_cut_into_long_paragraphs() -> None:
    result = parsed("a.txt", "x" * 1_000_000 + "needle" + "y" * 1_000_000)
    assert 2_000_000 // MAX_RUN <= len(result.blocks) <= 2_000_000 // MIN_RUN + 1


def test_code_is_cut_where_unindented_lines_follow_blank_ones() -> None:
    source = "import os\n\n\ndef a():\n    x = 1\n\n    return x\n\n\nclass B:\n    pass\n"
    result = parsed("a.py", source)
    assert slices(result, "code") == [
        "import os",
        "def a():\n    x = 1\n\n    return x",
        "class B:\n    pass",
    ]
