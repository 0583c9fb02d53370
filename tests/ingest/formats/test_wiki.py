"""Wiki markup and Typst."""

from __future__ import annotations

from tests.ingest.formats.shape import parsed, slices


def test_mediawiki_is_read_by_its_signs() -> None:
    result = parsed(
        "a.mediawiki",
        "= Harbour =\nText.\n== The ''tide'' at [[Port|the port]] ==\n<pre>\n== no ==\n</pre>\n* one\n* two\n"
        "{|\n|+ Tides\n! Port !! Hour\n|-\n| North || 4\n|}\nEnd, 1 = 1.",
    )
    assert [section.path for section in result.sections] == [
        ("Harbour",),
        ("Harbour", "The tide at the port"),
    ]
    assert result.title == "Harbour"
    assert slices(result, "code") == ["<pre>\n== no ==\n</pre>"]
    assert slices(result, "item") == ["* one", "* two"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Tides\nPort | Hour"]
    assert result.links == ("Port",)


def test_creole_is_read_by_its_signs() -> None:
    result = parsed("a.creole", "== Tides\n{{{\n== no\n}}}\n|=Port|=Hour|\n|North|4|\n")
    assert [section.heading for section in result.sections] == ["Tides"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Port | Hour"]


def test_textile_is_read_by_its_signs() -> None:
    result = parsed(
        "a.textile",
        'h1(#x). Tides\n\nbc. h2. no\n\nh2. At "the port":/p\n\n|_. Port |_. Hour |\n| North | 4 |',
    )
    assert [section.path for section in result.sections] == [("Tides",), ("Tides", "At the port")]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Port | Hour"]


def test_typst_is_read_by_its_signs() -> None:
    result = parsed("a.typ", "= Tides <t>\n#let x = 1\n```c\n= no\n```\n- one\n== Ebb\n")
    assert [section.path for section in result.sections] == [("Tides",), ("Tides", "Ebb")]
    assert slices(result, "code") == ["```c\n= no\n```"]
