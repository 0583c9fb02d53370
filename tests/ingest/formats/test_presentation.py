"""PowerPoint presentations, most of them made by another library."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from tests.ingest.formats.damage import Damage, assert_read_or_refused, damage
from tests.ingest.formats.made import zipped
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.formats.slide_order import Placed, reading_order
from mindscape.ingest.media_types import PPTX
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TITLE_AND_TEXT, TITLE_ONLY, BLANK = 1, 5, 6


def deck() -> bytes:
    """Three slides: a list with notes, a table, and a chart without a title."""
    made: Any = Presentation()
    made.core_properties.title = "The Ferry"
    made.core_properties.author = "A. Mole"
    made.core_properties.keywords = "boats; rope"
    first = made.slides.add_slide(made.slide_layouts[TITLE_AND_TEXT])
    first.shapes.title.text = "Ropes"
    first.placeholders[1].text = "wet\nlong"
    first.notes_slide.notes_text_frame.text = "Say it slowly."
    second = made.slides.add_slide(made.slide_layouts[TITLE_ONLY])
    second.shapes.title.text = "Prices"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(5), Inches(1)).table
    for place, text in enumerate(("Wood", "Price", "Oak", "12")):
        table.cell(place // 2, place % 2).text = text
    data: Any = CategoryChartData()
    data.categories = ["2019", "2020"]
    data.add_series("Fares", (1.5, 0.1 + 0.2))
    third = made.slides.add_slide(made.slide_layouts[BLANK])
    chart = third.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(1), Inches(5), Inches(4), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Money"
    return saved(made)


def saved(made: Any) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


DECK = deck()


def changed(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The package with its members changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    return zipped(dict(members))


def without(*names: str) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        for name in names:
            del members[name]

    return change


def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        assert old in members[name]
        members[name] = members[name].replace(old, new)

    return change


def test_slides_are_pages_with_title_list_notes_table_and_chart() -> None:
    result = parsed("a.pptx", DECK)
    assert result.text == (
        "Ropes\n\nwet\nlong\n\n[Notes] Say it slowly.\n\nPrices\n\nWood | Price\nOak | 12\n\n"
        "Money\n\n| Fares\n2019 | 1.5\n2020 | 0.3"
    )
    assert [(mark.kind, mark.label, result.text[mark.start :][:5]) for mark in result.marks] == [
        ("page", "1", "Ropes"),
        ("page", "2", "Price"),
        ("page", "3", "Money"),
    ]
    assert [section.heading for section in result.sections] == ["Ropes", "Prices", "Slide 3"]
    assert [block.header for block in result.blocks if block.kind == "table"] == [
        "Wood | Price",
        "Money\n| Fares",
    ]
    assert slices(result, "item") == ["wet", "long"]
    assert result.title == "The Ferry"
    assert result.metadata["author"] == "A. Mole"
    assert result.metadata["tags"] == ["boats", "rope"]


def test_grouped_shapes_merged_cells_links_and_diagrams_are_read_once() -> None:
    made: Any = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[BLANK])
    group = slide.shapes.add_group_shape()
    for text, top in (("below", 4), ("above", 1)):
        group.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1)).text_frame.text = text
    run = slide.shapes.add_textbox(0, Inches(6), 9, 9).text_frame.paragraphs[0].add_run()
    run.text = "the ferry"
    run.hyperlink.address = "https://ferry.example/"
    table = slide.shapes.add_table(2, 2, 0, Inches(8), Inches(5), Inches(1)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    for place, text in ((0, "Woods"), (2, "Oak"), (3, "Elm")):
        table.cell(place // 2, place % 2).text = text
    result = parsed("a.pptx", saved(made))
    assert result.text == "above\n\nbelow\n\nthe ferry\n\nWoods |\nOak | Elm"
    assert result.links == ("https://ferry.example/",)
    assert result.title is None


def test_comments_are_read_with_their_author() -> None:
    space = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

    def change(members: dict[str, bytes]) -> None:
        for name, target, relation in (
            ("ppt/_rels/presentation.xml.rels", "commentAuthors.xml", "commentAuthors"),
            ("ppt/slides/_rels/slide2.xml.rels", "../comments/comment1.xml", "comments"),
        ):
            held = f'<Relationship Id="x1" Type="{kind}{relation}" Target="{target}"/></Relationships>'
            members[name] = members[name].replace(b"</Relationships>", held.encode())
        members["ppt/commentAuthors.xml"] = (
            f'<p:cmAuthorLst {space}><p:cmAuthor id="1" name="Vole"/></p:cmAuthorLst>'.encode()
        )
        members["ppt/comments/comment1.xml"] = (
            f'<p:cmLst {space}><p:cm authorId="1"><p:text>Really?</p:text></p:cm></p:cmLst>'.encode()
        )

    assert "Oak | 12\n\n[Comment by Vole] Really?\n\nMoney" in parsed("a.pptx", changed(DECK, change)).text


def test_slides_named_once_more_in_sections_are_no_more_slides() -> None:
    sections = b'<p:extLst><p:ext uri="a"><s:sectionLst xmlns:s="b"><s:section name="Ropes"><s:sldIdLst>'
    sections += (
        b'<s:sldId id="256"/></s:sldIdLst></s:section></s:sectionLst></p:ext></p:extLst></p:presentation>'
    )
    result = parsed("a.pptx", changed(DECK, replaced("ppt/presentation.xml", b"</p:presentation>", sections)))
    assert (result.text, result.warnings) == (parsed("a.pptx", DECK).text, ())


def test_hidden_slides_are_read_and_named() -> None:
    hidden = changed(DECK, replaced("ppt/slides/slide2.xml", b"<p:sld ", b'<p:sld show="0" '))
    result = parsed("a.pptx", hidden)
    assert "Oak | 12" in result.text
    assert result.warnings == ("Hidden slides are indexed too: 2.",)


def test_what_is_missing_or_damaged_is_named_and_the_rest_is_read() -> None:
    missing = changed(DECK, without("ppt/slides/slide1.xml", "ppt/slideLayouts/slideLayout6.xml"))
    result = parsed("a.pptx", missing)
    assert result.text.startswith("Prices")
    assert result.warnings == ("Slide 1 is not in the file.",)
    assert [mark.label for mark in result.marks] == ["1", "2", "3"]
    no_order = changed(DECK, without("ppt/presentation.xml"))
    assert parsed("a.pptx", no_order).text == parsed("a.pptx", DECK).text
    dtd = changed(DECK, replaced("ppt/slides/slide1.xml", b"<p:sld ", b"<!DOCTYPE a><p:sld "))
    assert parsed("a.pptx", dtd).warnings == ("Slide 1 is damaged and was left out.",)


def test_the_order_of_the_file_holds_unless_it_goes_upwards() -> None:
    columns = [
        Placed("left top", 0, 0, 4, 1),
        Placed("left low", 0, 5, 4, 1),
        Placed("right top", 5, 0, 4, 1),
        Placed("right low", 5, 5, 4, 1),
    ]
    assert reading_order(columns) == ["left top", "left low", "right top", "right low"]
    late = [columns[3], columns[2], columns[0], columns[1]]
    assert reading_order(late) == ["left top", "right top", "left low", "right low"]


def test_a_presentation_is_known_whatever_its_name() -> None:
    with zipfile.ZipFile(io.BytesIO(DECK)) as archive:
        slide = archive.read("ppt/slides/slide1.xml")
    package = zipped({"ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": slide})
    assert parsed("talk.bin", package).media_type == PPTX


def too_big(members: dict[str, bytes]) -> None:
    members["ppt/slides/slide1.xml"] = b"<a>" + b" " * (40 << 20) + b"</a>"


def too_deep(members: dict[str, bytes]) -> None:
    members["ppt/slides/slide1.xml"] = b"<grpSp>" * 10_000 + b"</grpSp>" * 10_000


def only_pictures(members: dict[str, bytes]) -> None:
    for name in list(members):
        if name.startswith(("ppt/slides/slide", "ppt/notesSlides/notesSlide")):
            members[name] = b"<sld/>"
    members["ppt/media/image1.png"] = b"\x89PNG"


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("cut.pptx", DECK[: len(DECK) // 2], Status.DAMAGED),
        ("other.pptx", zipped({"a.txt": "no presentation"}), Status.DAMAGED),
        ("bare.pptx", saved(Presentation()), Status.EMPTY),
        ("bomb.pptx", changed(DECK, too_big), Status.TOO_LARGE),
        ("deep.pptx", changed(DECK, too_deep), Status.TOO_LARGE),
        ("pictures.pptx", changed(DECK, only_pictures), Status.NO_TEXT),
        ("locked.pptx", OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), Status.PROTECTED),
        ("old.pptx", OLE + b"\0" * 600, Status.UNSUPPORTED),
        ("old.ppt", OLE + b"\0" * 600, Status.UNSUPPORTED),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, status: Status) -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed(name, data)
    assert caught.value.status is status


@settings(max_examples=40, deadline=None)
@given(damage(len(DECK)))
def test_any_damage_is_read_or_refused(damaged: Damage) -> None:
    assert_read_or_refused("a.pptx", damaged.of(DECK))
