"""Workbooks: XLSX made by another library, binary ones by hand."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given, settings
from tests.ingest.formats.damage import Damage, assert_read_or_refused, damage
from tests.ingest.formats.made import zipped
from tests.ingest.formats.shape import parsed, slices
from tests.ingest.formats.workbooks import xls, xlsb

from mindscape.ingest.formats.spreadsheet_cells import shown
from mindscape.ingest.media_types import CSV, HTML, ODS, XLS, XLSB, XLSX
from mindscape.ingest.parsed import Parsed, ParseFailure
from mindscape_storage.records import Status

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
URN = "urn:oasis:names:tc:opendocument:xmlns:"


def xlsx(*sheets: tuple[str, Callable[[Any], None]], properties: dict[str, str] | None = None) -> bytes:
    """A workbook with these sheets, each filled by its function."""
    buffer = io.BytesIO()
    workbook: Any = xlsxwriter.Workbook(buffer)
    for name, fill in sheets:
        fill(workbook.add_worksheet(name))
    workbook.set_properties(properties or {})
    workbook.close()
    return buffer.getvalue()


def rows(*held: list[Any], at: tuple[int, int] = (0, 0)) -> Callable[[Any], None]:
    def fill(sheet: Any) -> None:
        for offset, row in enumerate(held):
            sheet.write_row(at[0] + offset, at[1], row)

    return fill


def both(*fills: Callable[[Any], None]) -> Callable[[Any], None]:
    def fill(sheet: Any) -> None:
        for one in fills:
            one(sheet)

    return fill


def lines_of(result: Parsed) -> dict[str, str]:
    """By the label of each `line` mark, the first line of text there."""
    return {mark.label: result.text[mark.start :].partition("\n")[0] for mark in result.marks}


WOODS = rows(["Wood", "Price"], ["Oak", 12], ["Elm", 9.5])


def test_a_sheet_is_a_section_and_a_table_keeps_header_and_row_numbers() -> None:
    data = xlsx(
        ("Woods", WOODS),
        ("Blank", rows()),
        ("Boats", rows(["Ferry"], at=(6, 2))),
        properties={"title": "Stock", "author": "A. Mole", "keywords": "wood, boats"},
    )
    result = parsed("a.xlsx", data)
    assert result.text == "Woods\n\nWood | Price\nOak | 12\nElm | 9.5\n\nBoats\n\nFerry"
    assert [section.path for section in result.sections] == [("Woods",), ("Boats",)]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Wood | Price"]
    assert lines_of(result) == {"1": "Wood | Price", "2": "Oak | 12", "3": "Elm | 9.5", "7": "Ferry"}
    assert (result.title, result.metadata["author"], result.metadata["tags"]) == (
        "Stock",
        "A. Mole",
        ["wood", "boats"],
    )


def test_tables_on_one_sheet_are_apart_and_a_line_above_one_is_its_title() -> None:
    result = parsed(
        "a.xlsx",
        xlsx(
            (
                "S",
                both(
                    rows(["Prices of wood"], ["Wood", "Price"], ["Oak", 12]),
                    rows(["Boat", "Fare"], ["Ferry", 3], ["Punt", 2], at=(1, 4)),
                    rows(["Fees"], at=(5, 0)),
                    rows(["Kind", "Fee"], ["Mooring", 1], at=(7, 0)),
                ),
            )
        ),
    )
    tables = [block for block in result.blocks if block.kind == "table"]
    assert [(block.header, result.text[block.start : block.end]) for block in tables] == [
        ("Prices of wood\nWood | Price", "Wood | Price\nOak | 12"),
        ("Boat | Fare", "Boat | Fare\nFerry | 3\nPunt | 2"),
        ("Fees\nKind | Fee", "Kind | Fee\nMooring | 1"),
    ]
    assert slices(result, "paragraph") == ["Prices of wood", "Fees"]


def test_a_table_with_gaps_is_not_torn_apart_and_rows_after_a_blank_one_keep_its_header() -> None:
    fill = both(
        rows(["No", "", "Name", "", "Unit"], [1, "", "Voltage", "", "kV"]),
        rows([2, "", "Current", "", "A"], at=(3, 0)),
    )
    result = parsed("a.xlsx", xlsx(("S", fill)))
    assert [block.header for block in result.blocks[1:]] == ["No | Name | Unit"] * 2
    assert slices(result, "table") == ["No | Name | Unit\n1 | Voltage | kV", "2 | Current | A"]


def test_merged_cells_come_once_and_a_header_of_two_rows_is_whole() -> None:
    def fill(sheet: Any) -> None:
        sheet.merge_range(0, 0, 1, 0, "Wood")
        sheet.merge_range(0, 1, 0, 2, "Price")
        sheet.write_row(1, 1, ["old", "new"])
        sheet.write_row(2, 0, ["Oak", 11, 12])

    result = parsed("a.xlsx", xlsx(("S", fill)))
    assert result.blocks[1].header == "Wood | Price |\n| old | new"
    assert result.text.endswith("\nOak | 11 | 12")


def test_hidden_sheets_are_read_and_named_and_links_are_kept() -> None:
    def hide(sheet: Any) -> None:
        sheet.write(0, 0, "secret")
        sheet.hide()

    def link(sheet: Any) -> None:
        sheet.write_url(0, 0, "https://ferry.example/", string="the ferry")

    result = parsed("a.xlsx", xlsx(("S", link), ("Back", hide)))
    assert "secret" in result.text
    assert result.warnings == ("Hidden sheets are indexed too: Back.",)
    assert result.links == ("https://ferry.example/",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (12.0, "12"),
        (-0.0, "0"),
        (1e20, "100000000000000000000"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (True, "TRUE"),
        ("as is", "as is"),
        ("PT42H00M05S", "42:00:05"),
        (datetime.date(2024, 5, 6), "2024-05-06"),
        (datetime.datetime(2024, 5, 6), "2024-05-06"),
        (datetime.datetime(2024, 5, 6, 13, 29, 59, 999_999), "2024-05-06 13:30"),
        (datetime.time(9, 5), "09:05"),
        (datetime.timedelta(days=1, seconds=61), "24:01:01"),
        (datetime.timedelta(seconds=-61), "-0:01:01"),
    ],
)
def test_values_are_shown_as_people_see_them(value: object, text: str) -> None:
    assert shown(value) == text


def test_control_characters_and_line_ends_in_cells_do_not_break_rows() -> None:
    result = parsed("a.xlsx", xlsx(("S", rows(["a", "b"], ["x\ny", " z\t\u200b "], ["end", "1"]))))
    assert lines_of(result)["3"] == "end | 1"


def ods(table: str, locked: bool = False) -> bytes:
    entry = "<m:file-entry><m:encryption-data/></m:file-entry>" if locked else ""
    manifest = f'<m:manifest xmlns:m="{URN}manifest:1.0">{entry}</m:manifest>'
    return zipped({"mimetype": ODS, "META-INF/manifest.xml": manifest, "content.xml": flat(table)})


def flat(table: str) -> str:
    names = (("office", "office"), ("table", "table"), ("text", "text"), ("meta", "meta"))
    spaces = " ".join(f'xmlns:{short}="{URN}{name}:1.0"' for short, name in names)
    return (
        f'<office:document {spaces} office:mimetype="{ODS}"><office:body><office:spreadsheet>'
        f'<table:table table:name="Woods">{table}</table:table>'
        "</office:spreadsheet></office:body></office:document>"
    )


TABLE = "".join(
    "<table:table-row>"
    + "".join(
        f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
        for cell in row
    )
    + "</table:table-row>"
    for row in (("Wood", "Price"), ("Oak", "dear"))
)


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.xls", xls("Woods", {(0, 0): "Wood", (0, 1): "Price", (1, 0): "Oak", (1, 1): "dear"}), XLS),
        ("a.xlsb", xlsb("Woods", {(0, 0): "Wood", (0, 1): "Price", (1, 0): "Oak", (1, 1): "dear"}), XLSB),
        ("a.ods", ods(TABLE), ODS),
        ("laid out.ods", ods(TABLE.replace("><table", ">\n  <table")), ODS),
        ("a.fods", flat(TABLE).replace("><table", ">\n  <table").encode(), ODS),
        ("a.zip", xlsx(("Woods", rows(["Wood", "Price"], ["Oak", "dear"]))), XLSX),
    ],
)
def test_the_other_formats_read_alike(name: str, data: bytes, media_type: str) -> None:
    result = parsed(name, data)
    assert (result.text, result.media_type) == ("Woods\n\nWood | Price\nOak | dear", media_type)
    assert lines_of(result) == {"1": "Wood | Price", "2": "Oak | dear"}


def with_asides(sheet: Any) -> None:
    sheet.write(0, 0, "Oak")
    sheet.write_comment(2, 1, "dear this year", {"author": "Ann"})
    sheet.insert_textbox(5, 1, "prices fell\nin May")


def test_comments_and_text_boxes_are_read_on_their_sheet_with_row_and_author() -> None:
    only_a_box = both(lambda sheet: sheet.insert_textbox(1, 1, "alone here"))
    result = parsed("a.xlsx", xlsx(("Woods", with_asides), ("Boxes", only_a_box)))
    woods = "Woods\n\nOak\n\n[Comment by Ann] dear this year\n\nprices fell in May"
    assert result.text == f"{woods}\n\nBoxes\n\nalone here"
    assert lines_of(result)["3"] == "[Comment by Ann] dear this year"
    note = "<office:annotation><text:p>dear</text:p><text:p>this year</text:p></office:annotation><text:p>Oak"
    commented = parsed("a.ods", ods(TABLE.replace("<text:p>Oak", note)))
    assert commented.text.endswith("Oak | dear\n\n[Comment] dear this year")


def test_a_threaded_comment_is_read_once_and_by_the_name_of_who_wrote_it() -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx(("Woods", with_asides)))) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}

    def add(part: str, kind: str, target: str, content: str) -> None:
        relation = f'<Relationship Id="more" Type="http://a/relationships/{kind}" Target="/xl/{target}"/>'
        members[part] = members[part].replace("</Relationships>", f"{relation}</Relationships>")
        members[f"xl/{target}"] = content

    copied = members["xl/comments1.xml"].replace("dear this year", "[Threaded comment] Who says so?")
    members["xl/comments1.xml"] = copied
    thread = '<a><threadedComment ref="A7" personId="{1}"><text>Who says so?</text></threadedComment></a>'
    add("xl/worksheets/_rels/sheet1.xml.rels", "threadedComment", "threads.xml", thread)
    add("xl/_rels/workbook.xml.rels", "person", "persons.xml", '<a><person displayName="Ben" id="{1}"/></a>')
    result = parsed("a.xlsx", zipped(dict(members)))
    assert result.text == "Woods\n\nOak\n\n[Comment by Ben] Who says so?\n\nprices fell in May"


def test_a_workbook_with_a_sheet_of_old_macros_is_read() -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx(("Macro", rows(["on opening"])), ("Woods", WOODS)))) as archive:
        members = {
            name.replace("worksheets/sheet1", "macrosheets/sheet1"): archive.read(name).decode()
            for name in archive.namelist()
        }
    related = members["xl/_rels/workbook.xml.rels"]
    old = 'openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1'
    macro = 'microsoft.com/office/2006/relationships/xlMacrosheet" Target="macrosheets/sheet1'
    related = related.replace(old, macro)
    members["xl/_rels/workbook.xml.rels"] = related
    assert "xlMacrosheet" in related
    assert parsed("a.xlsm", zipped(dict(members))).text.startswith("Macro\n\non opening\n\nWoods\n\nWood | ")


def test_damaged_properties_leave_the_cells_readable() -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx(("S", rows(["Oak"]))))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["docProps/core.xml"] = b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"
    assert parsed("a.xlsx", zipped(dict(members))).text == "S\n\nOak"


def test_a_web_page_or_columns_under_the_name_of_a_workbook_are_read_as_what_they_are() -> None:
    page = parsed("export.xls", "<html><body><table><tr><td>Oak</td><td>12</td></tr></table></body></html>")
    assert (page.media_type, page.text) == (HTML, "Oak | 12")
    columns = parsed("export.xls", "Wood,Price\nOak,12\n")
    assert (columns.media_type, columns.blocks[0].header) == (CSV, "Wood,Price")


def corner(sheet: Any) -> None:
    sheet.write(0, 0, "x")
    sheet.write(1_048_575, 16_383, "y")


OLD = b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("far.xlsx", xlsx(("S", corner)), Status.TOO_LARGE),
        ("bomb.xlsx", zipped({"xl/workbook.xml": b" " * (257 << 20)}), Status.TOO_LARGE),
        ("cut.xlsx", xlsx(("S", WOODS))[:2_000], Status.DAMAGED),
        ("other.xlsx", zipped({"a.txt": "no workbook"}), Status.DAMAGED),
        ("blank.xlsx", xlsx(("S", rows())), Status.EMPTY),
        ("locked.xlsx", OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), Status.PROTECTED),
        ("locked.xls", xls("S", {(0, 0): "x"}, encrypted=True), Status.PROTECTED),
        ("locked.ods", ods(TABLE, locked=True), Status.PROTECTED),
        ("word.xls", OLE + b"\0" * 600, Status.DAMAGED),
        ("old.xls", OLD, Status.UNSUPPORTED),
        ("older.xls", bytes.fromhex("0904060000001000") + b"\0" * 99, Status.UNSUPPORTED),
        ("packed.xls", b"\x1f\x8b\x08" + bytes(99), Status.UNSUPPORTED),
        ("noise.xls", bytes(range(32)) * 20, Status.DAMAGED),
        ("dtd.fods", b"<!DOCTYPE a><a/>", Status.DAMAGED),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, status: Status) -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed(name, data)
    assert caught.value.status is status


GOOD = {
    "a.xlsx": xlsx(("S", WOODS)),
    "a.xls": xls("S", {(0, 0): "Wood", (1, 0): 12.0}),
    "a.xlsb": xlsb("S", {(0, 0): "Wood", (1, 0): 12.0}),
    "a.ods": ods(TABLE),
}


@pytest.mark.parametrize("name", GOOD)
def test_any_damage_is_read_or_refused(name: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(damage(len(GOOD[name])))
    def holds(damaged: Damage) -> None:
        assert_read_or_refused(name, damaged.of(GOOD[name]))

    holds()
