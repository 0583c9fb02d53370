"""AsciiDoc."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed, slices

PAGE = """= The *Harbour* Book
Ann Mole <ann@e.org>; Ben Vole
v1.0, 2024-03-05
:keywords: boats, fish

Lay the fish on link:https://e.org/b[boards].

== Salting

----
== not a heading
# nor this
----

* one
more
** two
Boat:: a thing that floats

// == a comment

=== Times ===

.By weight
[options="header"]
|===
|Weight |Days

|2 kg |9
|===

____
It rained.
____

 literal text

[source,c]
----
int x;
----

Old Title
---------

xref:other.adoc[Other]
"""


def test_a_page_is_read_by_its_signs() -> None:
    result = parsed("a.adoc", PAGE)
    assert result.title == "The Harbour Book"
    assert result.metadata == {
        "author": "Ann Mole, Ben Vole",
        "date": "2024-03-05",
        "tags": ["boats", "fish"],
    }
    assert [section.path for section in result.sections] == [
        ("The Harbour Book",),
        ("The Harbour Book", "Salting"),
        ("The Harbour Book", "Salting", "Times"),
        ("The Harbour Book", "Old Title"),
    ]
    assert slices(result, "item") == ["* one\nmore", "** two", "Boat:: a thing that floats"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["By weight\nWeight | Days"]
    assert slices(result, "code") == [
        "----\n== not a heading\n# nor this\n----",
        "literal text",
        "----\nint x;\n----",
    ]
    assert slices(result, "quote") == ["____\nIt rained.\n____"]
    assert result.links == ("https://e.org/b", "other.adoc")


@pytest.mark.parametrize("fence", ["----", "....", "++++", "////", "```"])
def test_a_fence_without_an_end_hides_no_text(fence: str) -> None:
    result = parsed("a.adoc", f"== One\n\n{fence}\n== two\nwords")
    assert [section.heading for section in result.sections] == ["One"]
    assert result.blocks[-1].end == len(result.text)


def test_text_right_below_the_title_is_no_author() -> None:
    assert parsed("a.adoc", "= Title\nIt rained all day long on the harbour.\n").metadata == {}
