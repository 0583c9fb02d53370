"""reStructuredText."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed, slices

PAGE = """.. a comment
   Not a title
   -----------

==============
Harbour *Book*
==============

:Author: A. Mole; B. Vole
:Date: 2024-03-05
:Keywords: boats, fish

Salting
=======

Lay the fish on `boards <https://e.org/b>`_ like this::

    # code
    Not a title
    -----------

Times
-----

* one
  more
* two

.. code-block:: python

   Not a title
   ===========

=======  ====
Weight   Days
=======  ====
2 kg     9
=======  ====

+--------+------+
| Boat   | Crew |
+========+======+
| Gull   | 4    |
+--------+------+

.. list-table:: Tides
   :header-rows: 1

   * - Port
     - Hour
   * - North
     - 4

>>> 1 + 1
2

    A quotation.

----

Last
====
中文标题
--------

Text.
"""


def test_a_page_is_read_by_its_signs() -> None:
    result = parsed("a.rst", PAGE)
    assert result.title == "Harbour Book"
    assert result.metadata == {"author": "A. Mole, B. Vole", "date": "2024-03-05", "tags": ["boats", "fish"]}
    assert [section.path for section in result.sections] == [
        ("Harbour Book",),
        ("Harbour Book", "Salting"),
        ("Harbour Book", "Salting", "Times"),
        ("Harbour Book", "Last"),
        ("Harbour Book", "Last", "中文标题"),
    ]
    assert slices(result, "item") == ["* one\n  more", "* two"]
    assert [block.header for block in result.blocks if block.kind == "table"] == [
        "Weight | Days",
        "Boat | Crew",
        "Tides\nPort | Hour",
    ]
    assert slices(result, "code") == [
        "# code\n    Not a title\n    -----------",
        ".. code-block:: python\n\n   Not a title\n   ===========",
        ">>> 1 + 1\n2",
    ]
    assert slices(result, "quote") == ["A quotation."]
    assert result.links == ("https://e.org/b",)


def test_levels_follow_the_order_of_appearance() -> None:
    result = parsed("a.rst", "One\n~~~\n\nTwo\n===\n\nThree\n~~~~~\n")
    assert [(section.level, section.heading) for section in result.sections] == [
        (1, "One"),
        (2, "Two"),
        (1, "Three"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "A paragraph\nof two lines\n============",
        "Text\n--\n",
        "----\n\nText",
        "  Indented\n  --------\n",
        "=====  =====\n  a      b\n=====  =====\n",
    ],
)
def test_rules_and_tables_are_no_titles(text: str) -> None:
    assert parsed("a.rst", text).sections == ()
