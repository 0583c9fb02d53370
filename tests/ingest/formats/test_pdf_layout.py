"""PDF: columns, tables beside them, titles that run along, and words set or broken apart."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.ingest.formats.pdf_made import drawn, lines
from tests.ingest.formats.shape import parsed, slices


def flat(text: str) -> str:
    return " ".join(text.split())


WORDS = flat(
    """
    The old canal was dug by hand in nine years and the earth was carried away in baskets by men who had been
    promised barley and were paid in beer which was thought to be a fair bargain on both sides until the
    winter of the second year when the barley failed and the beer with it so that the keepers of the locks
    had to be found among the sons of the diggers who knew the water well enough
    """
).split(" ")


def column(canvas: Any, x: float, y: float, width: int, words: list[str]) -> None:
    canvas.setFont("Helvetica", 10)
    lines(canvas, *textwrap.wrap(" ".join(words), width), x=x, y=y, leading=12)


def test_three_columns_follow_each_other_and_a_sentence_goes_on_over_them() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(60, 790, "A heading across the whole of the page and its columns")
        for number in range(3):
            column(canvas, 50 + 175 * number, 750, 30, WORDS[number * 22 : number * 22 + 22])

    result = parsed("a.pdf", drawn(draw))
    assert slices(result, "heading") == ["A heading across the whole of the page and its columns"]
    assert [flat(text) for text in slices(result, "paragraph")] == [" ".join(WORDS[:66])]


def test_a_word_broken_off_by_a_column_is_in_one_paragraph() -> None:
    def draw(canvas: Any) -> None:
        column(canvas, 60, 750, 40, [*WORDS[:40], "infor-"])
        column(canvas, 320, 750, 40, ["mation", *WORDS[40:]])

    (paragraph,) = slices(parsed("a.pdf", drawn(draw)), "paragraph")
    assert "infor-\nmation" in paragraph


def test_a_table_beside_prose_is_not_read_across() -> None:
    rows = [("Year", "Toll"), ("1901", "12.50"), ("1902", "13.75"), ("1903", "14.00"), ("1904", "15.10")]

    def draw(canvas: Any) -> None:
        column(canvas, 60, 760, 45, WORDS)
        for row, cells in enumerate(rows):
            for place, cell in enumerate(cells):
                canvas.drawString(360 + 70 * place, 740 - 14 * row, cell)

    result = parsed("a.pdf", drawn(draw))
    assert [flat(text) for text in slices(result, "paragraph")] == [" ".join(WORDS)]
    assert slices(result, "table") == ["\n".join(" | ".join(row) for row in rows)]


@pytest.mark.parametrize("marks", ["•••••", ["1.", "2.", "3.", "4.", "5."], ["a)", "b)", "c)", "d)", "e)"]])
def test_marks_of_a_list_far_from_their_items_are_no_column(marks: Sequence[str]) -> None:
    def draw(canvas: Any) -> None:
        for place, mark in enumerate(marks):
            canvas.drawString(60, 740 - 14 * place, mark)
            canvas.drawString(100, 740 - 14 * place, f"{WORDS[place]} in every pool")

    result = parsed("a.pdf", drawn(draw))
    assert not slices(result, "table")
    assert f"{marks[1]} {WORDS[1]} in every pool" in result.text


def test_a_table_with_a_wordy_column_stays_a_table() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 10)
        for row in range(6):
            canvas.drawString(60, 740 - 14 * row, f"Pool {row}")
            canvas.drawString(160, 740 - 14 * row, "dredged in the spring with two boats and twelve men")
            canvas.drawString(480, 740 - 14 * row, f"{row}1,250")

    (table,) = slices(parsed("a.pdf", drawn(draw)), "table")
    assert table.split("\n")[2] == "Pool 2 | dredged in the spring with two boats and twelve men | 21,250"


def test_letters_set_apart_are_words_and_rows_of_letters_stay() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawString(60, 780, "T H E   L O C K")
        text = canvas.beginText(60, 740)
        text.setCharSpace(6)
        text.textLine("CHAPTER ONE")
        text.setCharSpace(0)
        canvas.drawText(text)
        canvas.drawString(60, 700, "A B C D E")
        canvas.drawString(60, 660, "1 2 3 4 5 6")

    assert parsed("a.pdf", drawn(draw)).text.split("\n") == [
        "THE LOCK",
        "CHAPTER ONE",
        "A B C D E",
        "1 2 3 4 5 6",
    ]


def page_of(number: int, title: str, body: str) -> Callable[[Any], None]:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 810, title)
        canvas.drawString(300, 25, str(number))
        lines(canvas, body, *[f"{word} and so on along the line." for word in WORDS[:8]])

    return draw


def test_the_titles_of_chapters_run_along_with_few_pages_and_are_kept_once() -> None:
    pages = [
        page_of(number, f"Chapter {'ABCDE'[number // 4]}: of locks", f"Body of page {number} here.")
        for number in range(20)
    ]
    text = parsed("a.pdf", drawn(*pages)).text
    assert [text.count(f"Chapter {letter}: of locks") for letter in "ABCDE"] == [1] * 5
    assert all(f"Body of page {number} here." in text for number in range(20))


def test_what_repeats_at_another_place_or_in_the_body_is_no_running_title() -> None:
    def draw(y: float) -> Callable[[Any], None]:
        def on_page(canvas: Any) -> None:
            canvas.setFont("Helvetica", 10)
            canvas.drawString(60, y, "The tide turns twice a day.")
            canvas.drawString(60, 400, "Nothing else is certain here.")

        return on_page

    text = parsed("a.pdf", drawn(*[draw(830 - 12 * number) for number in range(6)])).text
    assert text.count("The tide turns twice a day.") == 6
    assert text.count("Nothing else is certain here.") == 6


def test_footnotes_follow_the_text_of_their_page() -> None:
    def draw(canvas: Any) -> None:
        column(canvas, 60, 760, 80, WORDS)
        canvas.setFont("Helvetica", 7)
        lines(canvas, "1 See the register of tolls.", "2 The same.", y=60, leading=9)
        canvas.showPage()
        column(canvas, 60, 760, 80, ["Next", *WORDS])

    text = flat(parsed("a.pdf", drawn(draw)).text)
    assert text == " ".join([*WORDS, "1 See the register of tolls. 2 The same. Next", *WORDS])


def test_a_page_of_fifty_metres_is_read_like_any_other() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, "far left", x=60)
        lines(canvas, "far right", x=14_000)

    assert parsed("a.pdf", drawn(draw, pagesize=(14_400, 14_400))).text == "far left far right"


def test_empty_pages_keep_the_numbers_of_the_others() -> None:
    def write(canvas: Any) -> None:
        lines(canvas, "words")

    def nothing(_: Any) -> None:
        """An empty page."""

    result = parsed("a.pdf", drawn(*[write, nothing] * 300))
    assert [mark.label for mark in result.marks] == [str(number) for number in range(1, 600, 2)]
    assert result.warnings == ()
