"""Comma- and tab-separated values, and what counts as a header."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed

from mindscape.ingest.formats.rows import looks_like_header


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_file_is_one_table_with_its_first_row_as_header(delimiter: str) -> None:
    rows = [["Name", "Born", "Place"], ["Ada", "1815", "London"], ["Grace", "1906", "New York"]]
    text = "\r\n".join(delimiter.join(row) for row in rows) + "\r\n"
    result = parsed("a.csv", "\ufeff" + text)
    (block,) = result.blocks
    assert result.text == text
    assert (block.kind, block.header) == ("table", delimiter.join(rows[0]))
    assert result.text[block.start : block.end] == text.rstrip()


@pytest.mark.parametrize(
    "text", ["1,2\n3,4\n", "2024-01-01,5\n2024-01-02,6\n", "only one row,here\n", "a,,c\n1,2,3\n"]
)
def test_data_is_no_header(text: str) -> None:
    assert parsed("a.csv", text).blocks[0].header == ""


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Year", "Visitors"], True),
        (["", "2022", "2023"], True),
        (["2019", "5,140"], False),
        (["Total", "12.5%"], False),
        (["Total", "(1,204)"], False),
        (["one"], False),
        ([], False),
    ],
)
def test_a_header_has_words_or_years(cells: list[str], expected: bool) -> None:
    assert looks_like_header(cells) is expected
