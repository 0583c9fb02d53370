"""Word documents."""

from __future__ import annotations

import pytest
from tests.ingest.formats.made import W, docx, paragraph, relation, zipped
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

STYLES = f"""<w:styles {W}>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Deep"><w:name w:val="My own"/><w:basedOn w:val="Base"/></w:style>
<w:style w:styleId="Base"><w:name w:val="Base"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:styleId="Lst"><w:name w:val="List Bullet"/></w:style>
</w:styles>"""


RESTART = "<w:vMerge w:val='restart'/>"


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_headings_come_from_styles_their_ancestors_and_outline_levels() -> None:
    body = (
        paragraph("Top", '<w:pStyle w:val="berschrift1"/>')
        + paragraph("Below", '<w:pStyle w:val="Deep"/>')
        + paragraph("Direct", '<w:outlineLvl w:val="2"/>')
        + paragraph("one", '<w:pStyle w:val="Lst"/>')
        + paragraph("two", '<w:numPr><w:numId w:val="3"/></w:numPr>')
    )
    result = parsed("a.docx", docx(body, {"word/styles.xml": STYLES}, relation("styles", "styles.xml")))
    assert [section.path for section in result.sections] == [
        ("Top",),
        ("Top", "Below"),
        ("Top", "Below", "Direct"),
    ]
    assert slices(result, "item") == ["one", "two"]
    assert result.title == "Top"


def test_insertions_are_text_and_deletions_are_not() -> None:
    body = (
        f"<w:p>{run('The rent is ')}<w:del><w:r><w:delText>600</w:delText></w:r></w:del>"
        f"<w:ins>{run('650 crowns')}</w:ins>{run(' a year.')}</w:p>"
        f"<w:ins>{paragraph('A whole new paragraph.')}</w:ins>"
        f"<w:moveFrom>{paragraph('moved')}</w:moveFrom><w:moveTo>{paragraph('moved')}</w:moveTo>"
        f"<w:tbl><w:tr><w:trPr><w:del/></w:trPr>{cell('gone')}{cell('gone')}</w:tr>"
        f"<w:tr>{cell('kept')}{cell('too')}</w:tr></w:tbl>"
    )
    assert parsed("a.docx", docx(body)).text == (
        "The rent is 650 crowns a year.\n\nA whole new paragraph.\n\nmoved\n\nkept | too"
    )


def test_tables_stand_between_their_neighbours_with_header_and_merged_cells_once() -> None:
    nested = f"<w:tbl><w:tr>{cell('inner')}</w:tr></w:tbl>"
    body = (
        paragraph("Before.")
        + f"<w:tbl><w:tr>{cell('Name')}{cell('Price')}</w:tr>"
        + f"<w:tr>{cell('Oak', RESTART)}{cell('12')}</w:tr>"
        + f"<w:tr>{cell('Oak', '<w:vMerge/>')}<w:tc>{nested}{paragraph('13')}</w:tc></w:tr></w:tbl>"
        + paragraph("After.")
    )
    result = parsed("a.docx", docx(body))
    assert result.text == "Before.\n\nName | Price\nOak | 12\n| inner 13\n\nAfter."
    assert result.blocks[1].header == "Name | Price"


def test_notes_comments_edges_links_and_text_boxes_are_found() -> None:
    box = f"<w:txbxContent>{paragraph('In the box.')}</w:txbxContent>"
    body = (
        f"<w:p>{run('Body')}<w:r><w:footnoteReference w:id='2'/></w:r>"
        f"<w:hyperlink>{run(' linked')}</w:hyperlink><w:r><Choice>{box}</Choice></w:r></w:p>"
        f"<AlternateContent><Choice>{paragraph('new')}</Choice>"
        f"<Fallback>{paragraph('old')}</Fallback></AlternateContent>"
        f"<w:sdt><w:sdtContent>{paragraph('Controlled.')}</w:sdtContent></w:sdt>"
    )
    parts: dict[str, str | bytes] = {
        "word/header1.xml": f"<w:hdr {W}>{paragraph('Top line')}</w:hdr>",
        "word/footer1.xml": f"<w:ftr {W}>{paragraph('Bottom line')}{paragraph('7')}</w:ftr>",
        "word/footnotes.xml": f"<w:footnotes {W}>"
        f"<w:footnote w:type='separator'>{paragraph('---')}</w:footnote>"
        f"<w:footnote w:id='2'>{paragraph('The note.')}</w:footnote></w:footnotes>",
        "word/comments.xml": f"<w:comments {W}><w:comment w:id='1' w:author='Ada'>"
        f"{paragraph('Really?')}</w:comment></w:comments>",
    }
    kinds = {"header": "header1", "footer": "footer1", "footnotes": "footnotes", "comments": "comments"}
    relations = "".join(relation(kind, f"{name}.xml") for kind, name in kinds.items())
    relations += relation("hyperlink", "https://e.org").replace("/>", ' TargetMode="External"/>')
    result = parsed("a.docx", docx(body, parts, relations))
    assert result.text.split("\n\n") == [
        "Top line",
        "Body[2] linked",
        "In the box.",
        "new",
        "Controlled.",
        "[Footnote 2] The note.",
        "[Comment by Ada 1] Really?",
        "Bottom line",
    ]
    assert result.links == ("https://e.org",)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"not a zip", Status.DAMAGED),
        (zipped({"[Content_Types].xml": "<Types/>"}), Status.DAMAGED),
        (zipped({"word/document.xml": "plain words"}), Status.DAMAGED),
        (
            zipped(
                {
                    "word/document.xml": f"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>"
                    f"<w:document {W}><w:body>{paragraph('&b;')}</w:body></w:document>"
                }
            ),
            Status.DAMAGED,
        ),
        (docx("", {"word/media/scan.png": b"png"}), Status.NO_TEXT),
        (docx(""), Status.EMPTY),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), Status.PROTECTED),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"WordDocument", Status.UNSUPPORTED),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, status: Status) -> None:
    with pytest.raises(ParseFailure) as failure:
        parsed("a.docx", data)
    assert failure.value.status is status


def test_text_under_more_tables_than_can_be_read_is_not_called_empty() -> None:
    depth = 2_000
    body = "<w:tbl><w:tr><w:tc>" * depth + paragraph("The ferry.") + "</w:tc></w:tr></w:tbl>" * depth
    with pytest.raises(ParseFailure) as failure:
        parsed("deep.docx", docx(body))
    assert failure.value.status is Status.TOO_LARGE
    assert "256 levels" in failure.value.reason


def test_a_large_first_letter_belongs_to_its_word_and_pictures_say_what_they_show() -> None:
    cap = '<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>D</w:t></w:r></w:p>'
    drawing = (
        '<w:r><w:drawing><wp:docPr xmlns:wp="urn:wp" id="1" name="Picture 1" descr="{}"/></w:drawing></w:r>'
    )
    drawings = "".join(drawing.format(said) for said in ("A heron on one leg", "img_01.png"))
    body = f"{cap}<w:p><w:r><w:t>rop caps.</w:t></w:r></w:p><w:p><w:r><w:t>See</w:t></w:r>{drawings}</w:p>"
    assert parsed("a.docx", docx(body)).text == "Drop caps.\n\nSee [A heron on one leg]"


def test_a_formula_is_a_line_of_text() -> None:
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    run = "<m:r><m:t>{}</m:t></m:r>"
    power = f"<m:sSup><m:e>{run.format('x')}</m:e><m:sup>{run.format('2')}</m:sup></m:sSup>"
    part = f"<m:f><m:num>{power}</m:num><m:den>{run.format('a+b')}</m:den></m:f>"
    root = f"<m:rad><m:deg/><m:e>{run.format('y')}</m:e></m:rad>"
    body = f"<w:p><w:r><w:t>So </w:t></w:r><m:oMath {math}>{part}{run.format('=')}{root}</m:oMath></w:p>"
    assert parsed("a.docx", docx(body)).text == "So (x^2)/(a+b) = √(y)"
