"""A chapter is found by its number, however that is written, or by its name."""

from __future__ import annotations

import pytest

from mindscape.ask.chapters import find_section
from mindscape_storage.records import Section


def sections(*headings: str) -> list[Section]:
    return [Section(at, 1, one, at * 10, at * 10 + 10, (one,)) for at, one in enumerate(headings)]


@pytest.mark.parametrize(
    ("about", "headings", "wanted"),
    [
        ("chapter 3", ("Preface", "Chapter 1", "Chapter 2", "Chapter 3: The wall", "Chapter 30"), 3),
        ("chapter three", ("CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER IV"), 2),
        ("Kapitel 2", ("1. Anfang", "2. Mitte", "3. Ende"), 1),
        ("el capítulo 4", ("Capítulo uno", "Capítulo cuatro"), 1),
        ("chapter 12", ("Chapter Twelve", "Chapter 2"), 0),
        ("chapter xiv", ("XIII", "XIV"), 1),
        ("第三章", ("第一章", "第二章", "第三章 水闸"), 2),
        ("第十二章", ("第十章", "第十二章"), 1),
        ("the winter of the closed sound", ("Two wheels", "The winter of the closed sound"), 1),
        ("silt", ("The silt and the sand", "Silt"), 1),
        ("chapter 9", ("Chapter 1", "Chapter 2"), None),
        ("eels", ("Two wheels",), None),
        ("", ("Two wheels",), None),
        ("chapter 99999999999", ("Chapter 1",), None),
    ],
)
def test_a_section_is_found_by_number_or_name(
    about: str, headings: tuple[str, ...], wanted: int | None
) -> None:
    found = find_section(sections(*headings), about)
    assert (None if found is None else found.ordinal) == wanted
