"""FictionBook."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.made import zipped
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

BOOK = """<?xml version="1.0" encoding="{0}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"
 xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>prose</genre>
<author>
<first-name>Анна</first-name><last-name>Крот</last-name></author>
<author><nickname>vole</nickname></author><book-title>Гавань</book-title>
<annotation><p>About boats.</p></annotation>
<keywords>sea, boats</keywords><date value="2024-03-05">spring</date><lang>ru</lang>
<sequence name="Море" number="2"/>
</title-info></description>
<body><title><p>Гавань</p></title><epigraph><p>Salt.</p><text-author>Rat</text-author></epigraph>
<section><title><p>One</p><p>The Key</p></title>
<p>It <emphasis>rained</emphasis><a l:href="#n1" type="note">1</a>.</p>
<subtitle>* * *</subtitle>
<section><title><p>Inner</p></title><poem><stanza><v>High</v><v>tide</v></stanza></poem>
<cite><p>They said.</p></cite><empty-line/><p>See <a l:href="https://e.org/">this</a>.</p></section></section>
<section><title><p>Two</p></title>
<table><tr><th>Weight</th><th>Days</th></tr><tr><td>2 kg</td><td>9</td></tr></table></section>
</body>
<body name="notes"><title><p>Notes</p></title>
<section id="n1"><title><p>1</p></title><p>All day.</p></section></body>
<binary id="i" content-type="image/png">QUJDREVG</binary></FictionBook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-16"])
def test_a_book_is_read_by_its_sections(encoding: str) -> None:
    result = parsed("a.fb2", BOOK.format(encoding).encode(encoding))
    assert result.title == "Гавань"
    assert result.metadata == {
        "author": "Анна Крот, vole",
        "description": "About boats.",
        "tags": ["prose", "sea", "boats"],
        "date": "2024-03-05",
        "language": "ru",
        "series": "Море 2",
    }
    assert [section.path for section in result.sections] == [
        ("Гавань",),
        ("Гавань", "One The Key"),
        ("Гавань", "One The Key", "Inner"),
        ("Гавань", "Two"),
        ("Notes",),
    ]
    assert "It rained[1]." in slices(result, "paragraph")
    assert slices(result, "quote") == ["About boats.", "Salt.", "Rat", "High\ntide", "They said."]
    assert slices(result, "item") == ["1 All day."]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Weight | Days"]
    assert result.links == ("https://e.org/",)
    assert "QUJD" not in result.text
    assert [mark.label for mark in result.marks] == ["One The Key", "Two", "notes"]


def test_a_zipped_book_is_the_same_book() -> None:
    data = BOOK.format("utf-8").encode()
    assert parsed("a.fb2.zip", zipped({"book.fb2": data})) == parsed("a.fb2", data)


def test_an_archive_of_several_books_is_not_read_as_one() -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed("a.fb2.zip", zipped({"a.fb2": "<x/>", "b.fb2": "<x/>"}))
    assert caught.value.status is Status.UNSUPPORTED


SIGNS = """
<section> </section> <title> </title> <p> </p> text <table> </table> <tr> <stanza> <v> <a_type='note'> </a>
<body_name='notes'> <body> </body> <image/> <epigraph> <subtitle> <binary>
"""


@settings(deadline=None)
@given(pieces=st.lists(st.sampled_from(SIGNS.split()), max_size=24))
def test_any_markup_gives_a_well_formed_result(pieces: list[str]) -> None:
    with contextlib.suppress(ParseFailure):
        parsed("a.fb2", f"<FictionBook><body>{''.join(pieces).replace('_', ' ')}")
