"""RTF documents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.ingest.formats.damage import Damage, assert_read_or_refused, damage
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.media_types import RTF
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

FONTS = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 MS Mincho;}}"


def rtf(body: str, head: str = FONTS) -> str:
    return rf"{{\rtf1\ansi\ansicpg1252\deff0{head}{body}}}"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"na\'efve \u8212?yes\~and\emdash no", "naïve —yes and—no"),
        (r"\f1\'cf\'f0\'e8\'e2\'e5\'f2", "Привет"),
        (r"\f2\'93\'fa\'96{\f2 }", "日\ufffd"),
        ("\\f2\\'93\r\n\\'fa\\'96\\'7b", "日本"),
        (r"\f2\'83A", "ア"),
        (r"\uc2\u1055\'cf\'cf.", "П."),
        (r"\uc1\u-10179?\u-8704?", "😀"),
        (r"{\uc0\u233}t\'e9", "été"),
        (r"a\{b\}c\\d", r"a{b}c\d"),
    ],
)
def test_characters_are_those_of_the_font_and_of_unicode(written: str, read: str) -> None:
    assert parsed("a.rtf", rtf(written + r"\par")).text == read


def test_the_code_page_of_the_document_holds_without_a_font_table() -> None:
    assert parsed("a.rtf", b"{\\rtf1\\ansi\\ansicpg1250 P\\'f8\\'edliv \x9aum}").text == "Příliv šum"


def test_headings_come_from_outline_levels_and_styles_and_end_with_the_paragraph() -> None:
    styles = r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 Any name;}{\s2 heading 2;}{\*\cs3 heading 3;}}"
    body = r"\pard\s1 Top\par\pard\s2 Below\par\pard Text.\par{\pard\outlinelevel2 Direct\par}\pard More.\par"
    result = parsed("a.rtf", rtf(body, FONTS + styles))
    assert [section.path for section in result.sections] == [
        ("Top",),
        ("Top", "Below"),
        ("Top", "Below", "Direct"),
    ]
    assert slices(result, "paragraph") == ["Text.", "More."]
    assert result.title == "Top"


def test_tables_are_rows_with_their_header_and_stand_between_their_neighbours() -> None:
    def row(*cells: str, head: str = "") -> str:
        held = "".join(rf"\pard\intbl {cell}\cell" for cell in cells)
        return rf"\trowd{head}\cellx1\cellx2 {held}\row "

    body = (
        r"\pard Before.\par "
        + row("1", "2", head=r"\trhdr")
        + row(r"Oak\par dry", "12")
        + r"\pard After.\par"
    )
    result = parsed("a.rtf", rtf(body))
    assert result.text == "Before.\n\n1 | 2\nOak dry | 12\n\nAfter."
    assert result.blocks[1].header == "1 | 2"


def test_list_items_lose_their_bullets_and_keep_their_kind() -> None:
    body = r"\pard\ls1{\listtext\bullet\tab}one\par{\pntext *\tab}two\par\pard Text.\par"
    result = parsed("a.rtf", rtf(body))
    assert slices(result, "item") == ["one", "two"]
    assert slices(result, "paragraph") == ["Text."]


def test_notes_comments_boxes_headers_and_footers_have_their_own_place() -> None:
    body = (
        r"{\header Parish papers\par}{\footer Page {\chpgn}\par}{\footer\par}"
        r"\pard The rope{\super\chftn{\footnote\pard\chftn  Of hemp.\par Or flax.}} is"
        r"{\*\atnauthor Vole}{\*\annotation{\*\atndate 1}Really?} wet."
        r"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt In the box.\par}}{\shprslt In the box.}}\par"
        r"\pard Done.\par"
    )
    result = parsed("a.rtf", rtf(body))
    assert result.text == (
        "Parish papers\n\nThe rope[1] is wet.\n\nIn the box.\n\nDone.\n\n"
        "[Note 1] Of hemp.\nOr flax.\n\n[Comment by Vole] Really?\n\nPage"
    )


def test_links_and_properties_are_kept() -> None:
    info = (
        r"{\info{\title The Ferry}{\author A. Mole}{\keywords boats, rope}{\creatim\yr2021\mo5\dy4\hr9}"
        r"{\*\company No}}"
    )
    body = (
        r'{\field{\*\fldinst{HYPERLINK "https://ferry.example/"}}{\fldrslt the ferry}}'
        r'{\field{\*\fldinst HYPERLINK \\l "mark"}{\fldrslt{ here}}}\par'
    )
    result = parsed("a.rtf", rtf(body, FONTS + info))
    assert result.text == "the ferry here"
    assert result.links == ("https://ferry.example/",)
    assert result.title == "The Ferry"
    assert result.metadata == {"author": "A. Mole", "date": "2021-05-04", "tags": ["boats", "rope"]}


def test_properties_are_in_the_code_page_of_the_document() -> None:
    fonts = rb"{\fonttbl{\f0\fcharset0 Times;}}"
    data = rb"{\rtf1\ansi\ansicpg1251\deff0" + fonts + rb"{\info{\title \'f1\'ee\'eb\'fc}}x}"
    assert parsed("a.rtf", data).title == "соль"


def test_hidden_and_deleted_text_and_unknown_groups_are_left_out() -> None:
    body = r"Seen{\v unseen}{\deleted gone}\v unseen\v0 .{\*\unknown unseen}{\pict 00ff}\par"
    result = parsed("a.rtf", rtf(body))
    assert result.text == "Seen."
    assert result.warnings == ("Hidden text was left out.",)


def test_binary_data_is_passed_over_whatever_it_holds_and_a_lying_length_is_not_believed() -> None:
    assert parsed("a.rtf", rb"{\rtf1 A{\pict\bin5 }}}{{}B\par}").text == "AB"
    assert parsed("a.rtf", rb"{\rtf1 A{\pict\bin999999999 }B\par}").text == "AB"


def test_rtf_under_the_name_of_a_word_document_is_read_as_what_it_is() -> None:
    assert parsed("letter.doc", rtf(r"Dear Mole,\par")).media_type == RTF


def test_a_file_that_is_cut_off_is_read_to_its_end() -> None:
    result = parsed("a.rtf", rtf(r"Kept.\par {\b And this")[:-1])
    assert result.text == "Kept.\n\nAnd this"
    assert result.warnings == ("The file is cut off; what is there was read.",)


def test_what_stands_after_the_document_is_not_part_of_it() -> None:
    assert parsed("a.rtf", rtf(r"Kept.\par") + "{\\b not this}").text == "Kept."


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("deep.rtf", r"{\rtf1 " + "{" * 20_000 + "x" + "}" * 20_001, Status.TOO_LARGE),
        ("pictures.rtf", rtf(r"{\pict\pngblip 89504e47}\par"), Status.NO_TEXT),
        ("blank.rtf", rtf(r"\par\par"), Status.EMPTY),
        ("note.rtf", "No RTF at all, only text.", Status.DAMAGED),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: str, status: Status) -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed(name, data)
    assert caught.value.status is status


GOOD = rtf(
    r"\pard\outlinelevel0 Rope\par\pard\intbl a\cell b\cell\row\pard W\'e9t{\footnote Note}\u8212?\par"
).encode()


@settings(max_examples=150, deadline=None)
@given(damage(len(GOOD)))
def test_any_damage_is_read_or_refused(damaged: Damage) -> None:
    assert_read_or_refused("a.rtf", damaged.of(GOOD))
