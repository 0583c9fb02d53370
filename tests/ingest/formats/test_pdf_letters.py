"""PDF: letters drawn twice, apart, turned, far away or many, read as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ingest.formats.pdf_made import drawn, lines
from tests.ingest.formats.shape import parsed

from mindscape.ingest.formats import pdf_page


def text_of(draw: Any, **options: Any) -> str:
    return parsed("a.pdf", drawn(draw, **options)).text


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.8, 1.5])
def test_a_line_drawn_twice_to_look_bold_is_read_once(offset: float) -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 12)
        canvas.drawString(60, 700, "Harbour dues and tolls")
        canvas.drawString(60 + offset, 700 - offset / 2, "Harbour dues and tolls")

    assert text_of(draw) == "Harbour dues and tolls"


def test_letters_drawn_twice_one_by_one_are_read_once_and_real_doubles_stay() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 12)
        x = 60.0
        for letter in "all bookkeepers":
            for offset in (0.0, 0.4):
                canvas.drawString(x + offset, 700, letter)
            x += canvas.stringWidth(letter, "Helvetica", 12)

    assert text_of(draw) == "all bookkeepers"


def test_a_landscape_table_on_an_upright_page_is_read_along_its_lines() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 800, "7 Dues")
        canvas.translate(300, 200)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Vessels over twenty tons pay at the lower gate")
        canvas.drawString(0, -15, "and all others at the house of the keeper.")

    assert text_of(draw).split("\n\n") == [
        "Vessels over twenty tons pay at the lower gate\nand all others at the house of the keeper.",
        "7 Dues",
    ]


def test_a_slanted_stamp_keeps_its_words_and_stays_out_of_the_lines_it_crosses() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, *[f"Line number {row} of the agreement" for row in range(8)])
        canvas.translate(60, 560)
        canvas.rotate(40)
        canvas.setFont("Helvetica", 30)
        canvas.drawString(0, 0, "Draft only")

    text = text_of(draw)
    assert text.endswith("Draft only")
    assert text.startswith("Line number 0 of the agreement\nLine number 1 of the agreement")


def test_letters_of_the_same_size_on_another_line_are_not_joined() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 40)
        canvas.drawString(60, 700, "Low")
        canvas.drawString(60 + canvas.stringWidth("Low", "Helvetica", 40), 720, "High")

    assert sorted(text_of(draw).split()) == ["High", "Low"]


def test_a_page_of_endless_letters_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_page, "MAX_LETTERS", 40)

    def draw(canvas: Any) -> None:
        lines(canvas, *["words on a line"] * 10)

    assert 20 < len(text_of(draw)) < 60
