"""PDF: what stands in forms, comments, links, labels and properties, and text that nobody sees."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ingest.formats.pdf_made import bare, drawn, lines, one_page
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

WORDS = "BT /F1 12 Tf 60 700 Td (Words on the page itself.) Tj ET"


def field(name: str, value: str, kind: str = "Tx", more: str = "") -> str:
    drawn_at = "/Subtype /Widget /Rect [60 600 200 620]"
    return f"<< /Type /Annot {drawn_at} /FT /{kind} /T ({name}) /V ({value}) {more} >>"


def test_the_values_of_a_form_follow_the_text_of_their_page() -> None:
    data = one_page(
        WORDS,
        "/AcroForm << /Fields [6 0 R 7 0 R 8 0 R 9 0 R] >>",
        "/Annots [6 0 R 7 0 R 8 0 R 9 0 R]",
        field("form.owner[0]", "Ada Byron"),
        field("x7", "Lyme", more="/TU (Home port)"),
        field("secret", "sesame", more="/Ff 8192"),
        field("empty", ""),
    )
    result = parsed("a.pdf", data)
    assert result.text == "Words on the page itself.\n\nowner: Ada Byron\nHome port: Lyme"
    assert slices(result, "properties") == ["owner: Ada Byron\nHome port: Lyme"]


def test_a_form_with_values_only_has_text_and_one_without_is_empty() -> None:
    def form(value: str) -> bytes:
        return one_page("", "/AcroForm << /Fields [6 0 R] >>", "/Annots [6 0 R]", field("owner", value))

    assert parsed("a.pdf", form("Ada Byron")).text == "owner: Ada Byron"
    assert failure_of(form("")).status is Status.EMPTY


def test_comments_are_read_after_their_page_with_their_author() -> None:
    note = "<< /Type /Annot /Subtype /Text /T (Ada) /Contents (Ask the keeper.) /Rect [10 10 30 30] >>"
    mark = "<< /Type /Annot /Subtype /Highlight /Contents (Wrong year?) /Rect [10 10 30 30] >>"
    popup = "<< /Type /Annot /Subtype /Popup /Contents (Ask the keeper.) /Rect [10 10 30 30] >>"
    data = one_page(WORDS, "", "/Annots [6 0 R 7 0 R 8 0 R]", note, mark, popup)
    assert parsed("a.pdf", data).text.split("\n\n") == [
        "Words on the page itself.",
        "Comment by Ada: Ask the keeper.",
        "Comment: Wrong year?",
    ]


def test_links_are_collected_once() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, "See the register.")
        for _ in range(2):
            canvas.linkURL("https://register.example/locks", (60, 695, 160, 715))

    assert parsed("a.pdf", drawn(draw)).links == ("https://register.example/locks",)


def test_files_inside_are_named_and_not_read() -> None:
    data = one_page(
        WORDS,
        "/Names << /EmbeddedFiles << /Names [(tolls.csv) 6 0 R] >> >>",
        "",
        "<< /Type /Filespec /F (tolls.csv) /UF (tolls.csv) /EF << /F 7 0 R >> >>",
        "<< /Type /EmbeddedFile /Length 3 >>\nstream\na,b\nendstream",
    )
    assert parsed("a.pdf", data).warnings == ("Files inside it are not read: tolls.csv.",)


def labelled(labels: str) -> list[str]:
    fonts = "/Resources << /Font << /F1 7 0 R >> >>"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 6 0 R {fonts} >>"
    data = bare(
        f"/Pages 2 0 R /PageLabels << /Nums [{labels}] >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>",
        page,
        page,
        page,
        "<< /Length 35 >>\nstream\nBT /F1 12 Tf 60 150 Td (words) Tj ET\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    return [mark.label for mark in parsed("a.pdf", data).marks]


def test_pages_are_called_what_the_file_calls_them_unless_that_is_ambiguous() -> None:
    assert labelled("0 << /S /r >> 2 << /S /D >>") == ["i", "ii", "1"]
    assert labelled("0 << /S /D >> 2 << /S /D >>") == ["1", "2", "3"]
    assert labelled("") == ["1", "2", "3"]


@pytest.mark.parametrize(
    "title",
    [
        "Microsoft Word - final_v3.doc",
        "Microsoft Office Word - Dokument1",
        "PowerPoint Presentation",
        "untitled",
        "Untitled document",
        "Document1",
        "thesis.dvi",
        "C:\\Users\\ada\\x",
        "- 1 -",
        "",
    ],
)
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    def draw(canvas: Any) -> None:
        canvas.setTitle(title)
        lines(canvas, "Only a line of text, and no heading.")

    assert parsed("a.pdf", drawn(draw)).title is None


def test_what_the_file_says_of_itself_is_kept() -> None:
    def draw(canvas: Any) -> None:
        canvas.setTitle("On Locks")
        canvas.setAuthor("Ada Byron")
        canvas.setKeywords(["canals", "tolls"])
        lines(canvas, "A line of text.")

    result = parsed("a.pdf", drawn(draw, lang="en-GB"))
    assert result.title == "On Locks"
    assert result.metadata == {
        "pages": 1,
        "author": "Ada Byron",
        "language": "en-GB",
        "keywords": ["canals", "tolls"],
        "date": "2000-01-01",
    }


def failure_of(data: bytes) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parsed("a.pdf", data)
    return failure.value


def test_a_form_that_only_adobe_reader_shows_is_not_taken_for_its_excuse() -> None:
    wait = (
        "BT /F1 12 Tf 60 700 Td (Please wait... If this message is not replaced, upgrade Adobe Reader.) Tj ET"
    )
    xfa = "/AcroForm << /Fields [] /XFA 6 0 R >> /NeedsRendering true"
    failure = failure_of(one_page(wait, xfa, "", "<< /Length 0 >>\nstream\n\nendstream"))
    assert failure.status is Status.UNSUPPORTED
    assert "XFA" in failure.reason


def hidden(canvas: Any) -> None:
    canvas.setFillGray(0)
    lines(canvas, "What everybody reads.", "And a second line of it.")


def test_text_that_cannot_be_seen_is_left_out_and_said_to_be() -> None:
    def draw(canvas: Any) -> None:
        hidden(canvas)
        canvas.setFillGray(1)
        canvas.drawString(60, 500, "white words on white paper")
        canvas.setFillGray(0)
        canvas.setFont("Helvetica", 0.5)
        canvas.drawString(60, 450, "specks of words")
        canvas.setFont("Helvetica", 12)
        text = canvas.beginText(60, 400)
        text.setTextRenderMode(3)
        text.textLine("words of no colour")
        canvas.drawText(text)

    result = parsed("a.pdf", drawn(draw))
    assert result.text == "What everybody reads.\nAnd a second line of it."
    assert "cannot be seen" in result.warnings[0]


def test_white_text_on_a_dark_ground_is_read() -> None:
    def draw(canvas: Any) -> None:
        hidden(canvas)
        canvas.rect(50, 490, 300, 30, fill=1)
        canvas.setFillGray(1)
        canvas.drawString(60, 500, "A heading in white")

    result = parsed("a.pdf", drawn(draw))
    assert "A heading in white" in result.text
    assert result.warnings == ()


def test_a_text_layer_of_codes_is_no_text_and_says_so() -> None:
    failure = failure_of(one_page("BT /F1 12 Tf 60 700 Td <040506070804050607> Tj ET"))
    assert failure.status is Status.NO_TEXT
    assert "does not say which letters" in failure.reason
