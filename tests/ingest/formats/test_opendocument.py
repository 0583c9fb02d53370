"""OpenDocument texts, presentations and drawings."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from tests.ingest.formats.damage import Damage, assert_read_or_refused, damage
from tests.ingest.formats.made import zipped
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.media_types import ODP, ODT
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

URN = "urn:oasis:names:tc:opendocument:xmlns:"
_PREFIXES = " ".join(
    f'xmlns:{short}="{URN}{name}:1.0"'
    for short, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("meta", "meta"),
        ("form", "form"),
        ("presentation", "presentation"),
        ("svg", "svg-compatible"),
        ("manifest", "manifest"),
    )
)
SPACES = f'{_PREFIXES} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
META = f"""<office:document-meta {SPACES}><office:meta><dc:title>The Ferry</dc:title>
<meta:initial-creator>A. Mole</meta:initial-creator><dc:creator>B. Vole</dc:creator>
<meta:creation-date>2021-05-04T10:00:00</meta:creation-date><dc:date>2024-01-01</dc:date>
<dc:language>en-GB</dc:language><meta:keyword>boats, rivers</meta:keyword><meta:keyword>rope</meta:keyword>
</office:meta></office:document-meta>"""


def content(body: str, styles: str = "", kind: str = "text") -> str:
    return (
        f"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )


def odt(body: str, styles: str = "", extra: dict[str, str | bytes] | None = None) -> bytes:
    return zipped({"mimetype": ODT, "content.xml": content(body, styles)} | (extra or {}))


def odp(pages: str, styles: str = "") -> bytes:
    return zipped({"mimetype": ODP, "content.xml": content(pages, styles, "presentation")})


def style(name: str, inner: str = "", attributes: str = "", family: str = "paragraph") -> str:
    return f'<style:style style:name="{name}" style:family="{family}" {attributes}>{inner}</style:style>'


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"


def test_headings_lists_quotations_and_code_keep_their_kind() -> None:
    styles = style("P1", attributes='style:parent-style-name="Quotations"') + style("Quotations")
    styles += style("Preformatted_20_Text") + style("Title")
    body = (
        '<text:p text:style-name="Title">The Ferry</text:p>'
        '<text:h text:outline-level="2">The <text:span>rope</text:span></text:h>'
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        '<text:p text:style-name="P1">Haul away.</text:p>'
        '<text:p text:style-name="Preformatted_20_Text">if wet:</text:p>'
        '<text:p text:style-name="Preformatted_20_Text"><text:s text:c="4"/>dry()</text:p>'
    )
    result = parsed("a.odt", odt(body, styles))
    assert [section.path for section in result.sections] == [("The Ferry",), ("The Ferry", "The rope")]
    assert slices(result, "item") == ["one", "two"]
    assert slices(result, "quote") == ["Haul away."]
    assert slices(result, "code") == ["if wet:\n    dry()"]
    assert result.title == "The Ferry"


def test_spaces_tabs_and_line_breaks_are_written_out_and_a_huge_count_is_not() -> None:
    body = 'Oars<text:s text:c="3"/>and<text:tab/>ropes.<text:line-break/>Next\n   line.'
    body += '<text:s text:c="9999999999"/>'
    assert parsed("a.odt", odt(f"<text:p>{body}</text:p>")).text == "Oars and ropes.\nNext line."


def test_insertions_are_text_and_deletions_are_not() -> None:
    body = (
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><text:p>600</text:p>'
        "</text:deletion></text:changed-region></text:tracked-changes>"
        '<text:p>The rent is <text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>650'
        '<text:change-end text:change-id="c2"/> crowns.</text:p>'
    )
    assert parsed("a.odt", odt(body)).text == "The rent is 650 crowns."


def test_tables_keep_header_rows_captions_and_nested_tables_and_say_merged_cells_once() -> None:
    inner = f"<table:table>{row(cell('inner'), cell('too'))}</table:table>"
    covered, spanned = "<table:covered-table-cell/>", 'table:number-rows-spanned="2"'
    body = (
        '<text:p text:style-name="Caption">Table 1: Prices</text:p><table:table>'
        f"<table:table-header-rows>{row(cell('Wood'), cell('Price'))}{row(cell(''), cell('crowns'))}"
        "</table:table-header-rows>"
        f"{row(cell('Oak', spanned), cell('12'))}"
        f"{row(covered, f'<table:table-cell>{inner}<text:p>13</text:p></table:table-cell>')}"
        "</table:table><text:p>After.</text:p>"
    )
    result = parsed("a.odt", odt(body, style("Caption")))
    assert slices(result, "table") == ["Wood | Price\n| crowns\nOak | 12\n| inner too 13"]
    assert result.blocks[1].header == "Table 1: Prices\nWood | Price\n| crowns"
    assert slices(result, "paragraph") == ["Table 1: Prices", "After."]


def test_notes_and_comments_leave_the_sentence_whole_and_come_once() -> None:
    note = (
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>Of hemp.</text:p></text:note-body></text:note>"
    )
    comment = "<office:annotation><dc:creator>Vole</dc:creator><text:p>Really?</text:p></office:annotation>"
    result = parsed("a.odt", odt(f"<text:p>The rope{note} is {comment}wet.</text:p><text:p>Done.</text:p>"))
    assert result.text == (
        "The rope[1] is wet.\n\nDone.\n\n[Footnote 1] Of hemp.\n\n[Comment by Vole] Really?"
    )


def test_text_boxes_fields_links_headers_and_footers_are_found() -> None:
    master = (
        f"<office:document-styles {SPACES}><office:master-styles><style:master-page>"
        "<style:header><text:p>Parish papers</text:p></style:header>"
        "<style:header-first><text:p>Parish papers</text:p></style:header-first>"
        "<style:footer><text:p>Copy for A. Mole</text:p></style:footer>"
        "</style:master-page></office:master-styles></office:document-styles>"
    )
    body = (
        '<office:forms><form:form><form:text form:id="c1" form:label="Name" form:current-value="Alice"/>'
        "</form:form></office:forms>"
        "<text:p>See <text:a xlink:href='https://ferry.example/'>the ferry</text:a>, <text:a "
        "xlink:href='#here'>here</text:a>.<draw:frame><draw:text-box><text:p>In the box.</text:p>"
        "</draw:text-box></draw:frame></text:p><text:p><draw:control draw:control='c1'/></text:p>"
    )
    result = parsed("a.odt", odt(body, extra={"styles.xml": master, "meta.xml": META}))
    assert result.text == (
        "Parish papers\n\nSee the ferry, here.\n\nIn the box.\n\nAlice\n\nCopy for A. Mole"
    )
    assert result.links == ("https://ferry.example/",)
    assert result.title == "The Ferry"
    assert result.metadata == {
        "author": "A. Mole",
        "date": "2021-05-04",
        "language": "en-GB",
        "tags": ["boats", "rivers", "rope"],
    }


def test_hidden_text_is_left_out_and_said() -> None:
    styles = style("T1", '<style:text-properties text:display="none"/>', family="text")
    styles += style("P1", '<style:text-properties text:display="none"/>')
    body = (
        '<text:p>Seen<text:span text:style-name="T1"> unseen</text:span>.</text:p>'
        '<text:p text:style-name="P1">unseen</text:p><text:section text:display="none">'
        "<text:p>unseen</text:p></text:section>"
        "<text:p><text:hidden-paragraph text:is-hidden='true'/>unseen</text:p>"
    )
    result = parsed("a.odt", odt(body, styles))
    assert result.text == "Seen."
    assert result.warnings == ("Hidden text was left out.",)


def test_a_flat_file_reads_like_a_package() -> None:
    flat = (
        f"<?xml version='1.0' encoding='UTF-8'?><office:document {SPACES}>"
        "<office:meta><dc:title>The Ferry</dc:title></office:meta>"
        f"<office:styles>{style('Title')}</office:styles>"
        "<office:body><office:text><text:p text:style-name='Title'>Rope</text:p><text:p>Wet.</text:p>"
        "</office:text></office:body></office:document>"
    )
    result = parsed("a.fodt", flat)
    assert (result.text, result.title, len(result.sections)) == ("Rope\n\nWet.", "The Ferry", 1)


def frame(text: str, kind: str = "", top: int = 0) -> str:
    return (
        f'<draw:frame presentation:class="{kind}" svg:x="1cm" svg:y="{top}cm" svg:width="9cm" '
        f'svg:height="1cm"><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>'
    )


def test_slides_are_pages_with_title_shapes_in_order_and_notes() -> None:
    notes = f"<presentation:notes>{frame('Say it slowly.', 'notes')}</presentation:notes>"
    pages = (
        f"<draw:page>{frame('below', top=9)}{frame('above', top=5)}{frame('Ropes', 'title')}{notes}"
        "</draw:page>"
        f'<draw:page draw:style-name="dp2">{frame("No title here.")}</draw:page>'
    )
    hidden = style(
        "dp2",
        '<style:drawing-page-properties presentation:visibility="hidden"/>',
        family="drawing-page",
    )
    result = parsed("a.odp", odp(pages, hidden))
    assert result.text == "Ropes\n\nabove\n\nbelow\n\n[Notes] Say it slowly.\n\nNo title here."
    assert [(mark.kind, mark.label) for mark in result.marks] == [("page", "1"), ("page", "2")]
    assert [section.heading for section in result.sections] == ["Ropes", "Slide 2"]
    assert result.warnings == ("Hidden slides are indexed too: 2.",)


def test_the_package_itself_says_what_it_is_whatever_its_name() -> None:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("mimetype", ODT)
        archive.writestr("content.xml", content("<text:p>Rope.</text:p>"))
    assert parsed("a.docx", package.getvalue()).media_type == ODT


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("cut.odt", odt("<text:p>Rope.</text:p>")[:200], Status.DAMAGED),
        ("other.odt", zipped({"a.txt": "no document"}), Status.DAMAGED),
        ("pictures.odt", odt("<text:p><draw:frame><draw:image/></draw:frame></text:p>"), Status.NO_TEXT),
        ("bomb.odt", odt("<text:p>" + "A" * (40 << 20) + "</text:p>"), Status.TOO_LARGE),
        ("deep.odt", odt("<text:span>" * 10_000 + "x" + "</text:span>" * 10_000), Status.TOO_LARGE),
        ("bomb.fodt", '<!DOCTYPE a [<!ENTITY b "cc">]><a>&b;</a>', Status.DAMAGED),
        (
            "locked.odt",
            odt(
                "",
                extra={
                    "META-INF/manifest.xml": f"<manifest:manifest {SPACES}><manifest:file-entry>"
                    "<manifest:encryption-data/></manifest:file-entry></manifest:manifest>"
                },
            ),
            Status.PROTECTED,
        ),
        ("locked2.odt", zipped({"mimetype": ODT, "encrypted-package": b"\x01\x02"}), Status.PROTECTED),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes | str, status: Status) -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed(name, data)
    assert caught.value.status is status


def test_repeated_cells_and_rows_cannot_explode() -> None:
    many = 'table:number-{}-repeated="999999999"'
    cells = cell("a", many.format("columns")) + cell("b")
    table = f"<table:table>{row(cells, attributes=many.format('rows'))}</table:table>"
    assert len(parsed("a.odt", odt(table)).text) < 10


GOOD = odt("<text:h>Rope</text:h><text:p>Wet, and long.</text:p>", extra={"meta.xml": META})


@settings(max_examples=60, deadline=None)
@given(damage(len(GOOD)))
def test_any_damage_is_read_or_refused(damaged: Damage) -> None:
    assert_read_or_refused("a.odt", damaged.of(GOOD))
