"""Org files."""

from __future__ import annotations

from tests.ingest.formats.shape import parsed, slices

NOTE = """#+TITLE: The Harbour Book
#+AUTHOR: A. Mole
#+DATE: <2024-03-05 Tue>
#+FILETAGS: :harbour:boats:

* TODO [#A] Salting /cod/ [1/3]                                  :fish:winter:
:PROPERTIES:
:ID: 17
:END:
Lay the fish on boards.
- one
  and more
- two [[https://e.org/x][link]]
** See [[file:boats.org][the boats]]
#+begin_src python
# not a heading
* not a heading either
#+end_src
#+begin_quote
It rained.
#+end_quote
#+caption: By weight
| Weight | Days |
|--------+------|
| 2 kg   |    9 |
: fixed
# * a comment
* Last
"""


def test_an_org_file_is_read_by_its_signs() -> None:
    result = parsed("a.org", NOTE)
    assert result.title == "The Harbour Book"
    assert result.metadata == {
        "author": "A. Mole",
        "date": "2024-03-05 Tue",
        "tags": ["harbour", "boats", "fish", "winter"],
    }
    assert [section.path for section in result.sections] == [
        ("Salting cod",),
        ("Salting cod", "See the boats"),
        ("Last",),
    ]
    assert slices(result, "item") == ["- one\n  and more", "- two [[https://e.org/x][link]]"]
    assert slices(result, "code") == [
        "#+begin_src python\n# not a heading\n* not a heading either\n#+end_src",
        ": fixed",
    ]
    assert slices(result, "quote") == ["#+begin_quote\nIt rained.\n#+end_quote"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["By weight\nWeight | Days"]
    assert slices(result, "properties")[-1] == ":PROPERTIES:\n:ID: 17\n:END:"
    assert result.links == ("https://e.org/x", "boats.org")


def test_a_block_without_an_end_does_not_swallow_the_file() -> None:
    result = parsed("a.org", "#+begin_src c\nint x;\n* Heading\ntext")
    assert [section.heading for section in result.sections] == ["Heading"]


def test_a_drawer_without_an_end_does_not_swallow_the_file() -> None:
    result = parsed("a.org", ":LOGBOOK:\nnote\n\n* Heading\n:END:\ntext")
    assert [section.heading for section in result.sections] == ["Heading"]
    assert slices(result, "properties") == []


def test_a_table_without_a_rule_has_no_header() -> None:
    result = parsed("a.org", "| 1 | 2 |\n| 3 | 4 |")
    assert [block.header for block in result.blocks] == [""]


def test_bold_at_the_start_of_a_line_is_no_heading() -> None:
    assert parsed("a.org", "*bold* words\n\n*\n").sections == ()
