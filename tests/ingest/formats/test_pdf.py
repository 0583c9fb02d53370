"""PDF: reading order, tables, headings and what has no text."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

STYLES: Any = getSampleStyleSheet()
LEFT = [
    "The old canal was dug by hand",
    "in nine years, and the earth",
    "was carried away in baskets.",
    "It was deep.",
]
RIGHT = [
    "Lock keepers were paid in barley",
    "When the frost came they cut",
    "the ice with saws and sold it",
    "to the brewery.",
]


def drawn(draw: Callable[[Any], None], **options: Any) -> bytes:
    buffer = io.BytesIO()
    canvas: Any = Canvas(buffer, invariant=True, **options)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def nothing(_canvas: Any, _document: Any) -> None:
    """An empty page edge."""


def flowing(story: list[Any], on_page: Callable[[Any, Any], None] = nothing) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, title="Report", invariant=True).build(story, on_page, on_page)
    return buffer.getvalue()


def paragraph(text: str, style: str = "BodyText") -> Any:
    return Paragraph(text, STYLES[style])


def test_columns_are_read_one_after_the_other_below_their_heading() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Helvetica", 18)
        canvas.drawString(60, 780, "A Short History of the Canal and the People who dug it")
        canvas.setFont("Helvetica", 10)
        for row, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
            canvas.drawString(60, 740 - 14 * row, left)
            canvas.drawString(320, 740 - 14 * row, right)

    result = parsed("a.pdf", drawn(draw))
    assert " ".join(result.text.split()) == " ".join(
        ["A Short History of the Canal and the People who dug it", *LEFT, *RIGHT]
    )
    assert [section.heading for section in result.sections] == [
        "A Short History of the Canal and the People who dug it"
    ]


def test_a_table_is_rows_with_its_caption_and_header() -> None:
    rows = [
        ["Quarter", "Hours", "Electricity (MWh)"],
        ["January to March", "982", "38.4"],
        ["Wages", "", "12.0"],
    ]
    story = [
        paragraph("Results", "Heading1"),
        paragraph("The turbine ran well, and nobody fell into the wheel pit in the whole of the year. " * 3),
        paragraph("Table 1. Electricity by quarter"),
        Table(rows, style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])),
        paragraph("The year was good."),
    ]
    result = parsed("a.pdf", flowing(story))
    (table,) = (block for block in result.blocks if block.kind == "table")
    assert result.text[table.start : table.end].split("\n") == [
        "Quarter | Hours | Electricity (MWh)",
        "January to March | 982 | 38.4",
        "Wages |  | 12.0",
    ]
    assert table.header == "Table 1. Electricity by quarter\nQuarter | Hours | Electricity (MWh)"
    assert [section.heading for section in result.sections] == ["Results"]
    assert slices(result, "paragraph")[-1] == "The year was good."
    assert result.title == "Report"


def test_the_lines_of_a_wrapped_cell_stay_in_their_cell() -> None:
    long = paragraph("dredging of the upper pool, which takes twelve days and two boats")
    rows = [["Work", "What", "Cost"], ["Pool", long, "31,250"], ["Gate", "new oak", "48,600"]]
    result = parsed("a.pdf", flowing([Table(rows, colWidths=[80, 120, 80])]))
    assert result.text.split("\n") == [
        "Work | What | Cost",
        "Pool | dredging of the upper pool, which takes twelve days and two boats | 31,250",
        "Gate | new oak | 48,600",
    ]


def test_sections_follow_letter_size_and_pages_are_marked() -> None:
    body = paragraph("Plain words that go on for a while and fill a line or two of this page. " * 4)
    story = [
        paragraph("One", "Heading1"),
        body,
        paragraph("Sub", "Heading2"),
        body,
        PageBreak(),
        paragraph("Two", "Heading1"),
        body,
    ]
    result = parsed("a.pdf", flowing(story))
    assert [section.path for section in result.sections] == [("One",), ("One", "Sub"), ("Two",)]
    assert [(mark.kind, mark.label) for mark in result.marks] == [("page", "1"), ("page", "2")]
    assert result.text[result.marks[1].start :].startswith("Two")


def test_bookmarks_decide_where_there_are_any() -> None:
    def draw(canvas: Any) -> None:
        canvas.bookmarkPage("here")
        canvas.addOutlineEntry("The Lock", "here", level=0)
        canvas.drawString(60, 780, "1 The Lock")
        canvas.drawString(60, 740, "Words below the heading, of the same size.")

    result = parsed("a.pdf", drawn(draw))
    assert [section.heading for section in result.sections] == ["1 The Lock"]


def test_running_titles_and_page_numbers_are_not_repeated() -> None:
    def edge(canvas: Any, document: Any) -> None:
        canvas.drawString(70, 820, "Annual report of the mill")
        canvas.drawString(290, 20, f"Page {document.page} of 4")

    story = [part for number in range(4) for part in (paragraph(f"Body number {number}."), PageBreak())]
    result = parsed("a.pdf", flowing(story, edge))
    assert result.text.count("Annual report of the mill") == 1
    assert result.text.count("Page") <= 1
    assert [number for number in range(4) if f"Body number {number}." in result.text] == [0, 1, 2, 3]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_rotated_page_reads_like_any_other(rotation: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.setPageRotation(rotation)
        # As a scanner's driver does it: the page is turned, and its content turned back.
        canvas.translate(300, 400)
        canvas.rotate(rotation)
        canvas.drawString(-100, 50, "First line of the page.")
        canvas.drawString(-100, 35, "Second line of the page.")

    result = parsed("a.pdf", drawn(draw))
    assert result.text == "First line of the page.\nSecond line of the page."


def test_text_outside_the_page_is_left_out() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 700, "inside")
        canvas.drawString(5_000, 700, "outside")

    assert parsed("a.pdf", drawn(draw)).text == "inside"


def test_pages_without_text_are_named() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 700, "first page with words")
        canvas.showPage()
        canvas.rect(60, 60, 100, 100)
        canvas.showPage()
        canvas.drawString(60, 700, "third page with words")

    result = parsed("a.pdf", drawn(draw))
    assert [mark.label for mark in result.marks] == ["1", "3"]
    assert result.warnings[0].startswith("Page 2 of 3 has no text layer.")
    assert result.metadata["pages_without_text"] == 1


def failure_of(data: bytes) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parsed("a.pdf", data)
    return failure.value


def test_what_cannot_be_read_says_why() -> None:
    words = drawn(
        lambda canvas: canvas.drawString(60, 700, "secret words"), encrypt=StandardEncryption("otter")
    )
    assert failure_of(words).status is Status.PROTECTED
    assert failure_of(drawn(lambda canvas: canvas.rect(60, 60, 100, 100))).status is Status.NO_TEXT
    assert failure_of(b"%PDF-1.7\nand nothing else").status is Status.DAMAGED


def test_an_empty_password_is_no_obstacle() -> None:
    words = drawn(
        lambda canvas: canvas.drawString(60, 700, "words for all"),
        encrypt=StandardEncryption("", ownerPassword="otter"),
    )
    assert parsed("a.pdf", words).text == "words for all"
