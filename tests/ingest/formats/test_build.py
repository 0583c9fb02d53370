"""Putting a text together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed, slices

from mindscape.ingest.formats import build
from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.parsed import Parsed, ParseFailure
from mindscape_storage.records import Status


def inner() -> Parsed:
    builder = TextBuilder()
    builder.mark("page", "1")
    builder.add("heading", "Salt", level=1)
    builder.add("paragraph", "Lay the fish on boards.")
    builder.mark("page", "2")
    builder.add("table", "2 kg | 9", header="Weight | Days")
    builder.links["https://e.org"] = None
    return builder.build("application/pdf")


def test_a_text_in_another_keeps_its_structure_and_its_pages_end_with_it() -> None:
    builder = TextBuilder()
    builder.add("heading", "Letter", level=1)
    builder.include(inner(), below=1)
    builder.include(inner(), below=1)
    builder.add("paragraph", "Bye.")
    result = builder.build("message/rfc822")
    assert_well_formed(result)
    salt = "Salt\n\nLay the fish on boards.\n\n2 kg | 9"
    assert result.text == f"Letter\n\n{salt}\n\n{salt}\n\nBye."
    assert [section.path for section in result.sections] == [("Letter",), *[("Letter", "Salt")] * 2]
    assert slices(result, "table") == ["2 kg | 9"] * 2
    assert [(mark.label, result.text[mark.start :][:4]) for mark in result.marks] == [
        ("1", "Salt"),
        ("2", "2 kg"),
        ("1", "Salt"),
        ("2", "2 kg"),
        ("", "Bye."),
    ]
    assert result.links == ("https://e.org",)


def test_a_text_that_would_be_too_much_is_refused_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(build, "MAX_CHARACTERS", 60)
    builder = TextBuilder()
    builder.include(inner(), below=1)
    before = builder.build("message/rfc822")
    with pytest.raises(ParseFailure) as failure:
        builder.include(inner(), below=1)
    assert failure.value.status is Status.TOO_LARGE
    assert builder.build("message/rfc822") == before


@given(st.text(" \n\t\u00a0a", max_size=30))
def test_white_space_collapses_to_a_space_or_a_line_end(text: str) -> None:
    lines = [" ".join(line.split()) for line in text.split("\n")]
    assert collapsed(text) == "\n".join(line for line in lines if line)


def test_bullets_of_symbol_fonts_are_bullets() -> None:
    builder = TextBuilder()
    builder.add("item", "\uf0b7 oak")
    builder.add("item", "\uf0a7 elm")
    assert builder.build("text/x", None, {}).text == "• oak\n▪ elm"


def test_a_byte_order_mark_within_an_extracted_text_is_left_out() -> None:
    builder = TextBuilder()
    builder.add("paragraph", " \ufeffjoined \ufefffiles")
    assert builder.build("text/plain").text == "joined files"
