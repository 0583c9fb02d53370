"""Where texts are cut: no quote spans a page, a blank line, two rows or two items."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.spans import parts, units


def cut(text: str, breaks: tuple[int, ...] = (), rows: bool = False) -> list[str]:
    return [text[a:b] for a, b in parts(text, breaks, rows)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rent book\n\nThe rent is 4,120.", ["Rent book", "The rent is 4,120."]),
        ("Rent book\r\n \r\nThe rent\r\nis 4,120.", ["Rent book", "The rent\r\nis 4,120."]),
        ("Rent book\fThe rent is 4,120.", ["Rent book", "The rent is 4,120."]),
        ("The ferry\nis blue. It leaves\nat dawn.", ["The ferry\nis blue. It leaves\nat dawn."]),
        ("# Ferry\nIt is blue.\nIt leaves.", ["# Ferry", "It is blue.\nIt leaves."]),
        ("day | time\nMon | 7:40\nTue | 8:10", ["day | time", "Mon | 7:40", "Tue | 8:10"]),
        ("day\ttime\nMon\t7:40", ["day\ttime", "Mon\t7:40"]),
        ("- one\n  more\n- two", ["- one\n  more", "- two"]),
        ("1. lemons\n2. flour\n   white\n3. salt", ["1. lemons", "2. flour\n   white", "3. salt"]),
        ("Er kam am\n12. Mai und ging\nwieder.", ["Er kam am\n12. Mai und ging\nwieder."]),
        (
            "2024-03-01 07:40 pump on\n2024-03-01 07:41 pump off",
            ["2024-03-01 07:40 pump on", "2024-03-01 07:41 pump off"],
        ),
        (
            "Mar  1 07:40:12 weir on\nMar  1 07:41:12 weir off",
            ["Mar  1 07:40:12 weir on", "Mar  1 07:41:12 weir off"],
        ),
        (
            "The dinner at\n7:40 was late and\nthe soup cold.",
            ["The dinner at\n7:40 was late and\nthe soup cold."],
        ),
    ],
)
def test_a_text_is_cut_at_pages_blank_lines_rows_and_items_only(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_page_that_begins_in_a_paragraph_cuts_it() -> None:
    assert cut("The rent of the\nlighthouse is 4,120.", (16,)) == ["The rent of the", "lighthouse is 4,120."]


def test_with_rows_every_line_is_one_whatever_it_looks_like() -> None:
    text = "pump on. All well.\npump off\n\nend"
    assert cut(text, rows=True) == ["pump on. All well.", "pump off", "end"]
    assert [text[a:b] for a, b in units(text, rows=True)] == cut(text, rows=True)


@given(
    st.text(alphabet=st.sampled_from("ab. \n\r\t|-#*1:\f"), max_size=120),
    st.lists(st.integers(0, 120), max_size=4),
    st.booleans(),
)
def test_parts_lie_in_order_and_lose_nothing_but_white_space(
    text: str, breaks: list[int], rows: bool
) -> None:
    found = parts(text, breaks, rows)
    assert all(a < b for a, b in found)
    assert all(one[1] <= two[0] for one, two in pairwise(found))
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text.split())
    assert not any(a < at < b for a, b in found for at in breaks)
    assert not any(line.isspace() for a, b in found for line in text[a:b].splitlines(keepends=True))
