"""A folder's summary names what is in it, says what can stand alone, and loses no name on the way up."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.test_extract import MARKS, assert_safe_paragraph

from mindscape.ingest.overview import listing, merged
from mindscape.ingest.passages import count_tokens


def test_a_folder_names_its_children_in_front_of_what_they_say() -> None:
    children = ["# Mill\n\nAnna Lind bought the mill.", "# Notes: old\n\n", "# 港口\n\n港口很深，船可以停。"]
    assert listing(children, 60) == (
        "• Mill — Anna Lind bought the mill.\n• Notes: old\n• 港口 — 港口很深，船可以停。"
    )


def test_a_name_is_not_said_again_where_it_stands_as_a_heading_in_front_of_what_is_said() -> None:
    children = [
        "# Kompost\n\nKompost Der Haufen wurde im Mai umgesetzt.",
        "# Meeting\n\nMeeting: The two brothers sold the mill.",
        "# Skarvik\n\nSkarvik is the smallest of the islands.",
    ]
    assert listing(children, 90) == (
        "• Kompost — Der Haufen wurde im Mai umgesetzt.\n• Meeting — The two brothers sold the mill.\n"
        "• Skarvik — Skarvik is the smallest of the islands."
    )


def test_a_folder_in_a_folder_is_said_by_the_names_of_what_is_in_it() -> None:
    inner = listing(["# Mill\n\nAnna Lind bought the mill.", "# Ferry\n\nThe ferry leaves at noon."], 60)
    assert listing([f"# island-notes\n\n{inner}", "# Tides\n\n"], 60) == (
        "• Island notes — Mill · Ferry\n• Tides"
    )
    many = listing([f"# Note {at}\n\n" for at in range(30)], 160)
    assert re.fullmatch(r"• Notes — Note 0 · Note 1 · .* · …", listing([f"# notes\n\n{many}"], 40))


def test_the_groups_of_a_folder_are_merged_without_losing_a_name() -> None:
    def group(first: int) -> str:
        told = [
            f"# {at}. Mill\n\nMill {at} ground the rye of Skarvik twice." for at in range(first, first + 4)
        ]
        return listing(told, 90)

    above = merged([group(1), group(5)], 80)
    assert re.findall(r"• (\d)\. Mill", above) == list("12345678")
    assert re.search(r"\. Mill — Mill \d ground the rye of Skarvik twice\.", above)
    assert merged([above], 80) == above


def test_of_too_many_names_every_group_has_some() -> None:
    groups = [listing([f"# Note {group} {at}\n\n" for at in range(12)], 160) for group in range(8)]
    above = merged(groups, 60)
    assert {name[5] for name in re.findall(r"Note \d", above)} == set("01234567")
    assert count_tokens(above) <= 60


def test_the_gist_of_a_document_is_the_sentence_that_reads_best_alone() -> None:
    told = (
        "This guide of the mill says how rye is ground by the tide at Skarvik. Ask Anna. "
        "They also keep a swan in the pool, which nobody has ever seen from the wall of the mill. Then?"
    )
    assert listing([f"# Guide\n\n{told}"] * 3, 75).startswith(
        "• Guide — This guide of the mill says how rye is ground by the tide at Skarvik.\n•"
    )


def test_copies_are_named_but_their_gist_is_said_once() -> None:
    copies = [f"# Copy {at}\n\nAnna Lind bought the mill." for at in range(3)]
    assert listing(copies, 90) == "• Copy 0 — Anna Lind bought the mill.\n• Copy 1\n• Copy 2"


def test_properties_and_crumbs_of_lists_are_no_gist() -> None:
    children = ["# Futurama\n\ncategories: shows; genre: fiction; rating: 7", "# Buy\n\nmilk; bread"]
    assert listing(children, 90) == "• Futurama\n• Buy"


def test_a_folder_without_room_for_all_names_the_others() -> None:
    children = [
        f"# Note {at}\n\nThe mill of Skarvik ground {at} sacks of rye in the year." for at in range(12)
    ]
    summary = listing(children, 100)
    assert re.search(r"Note \d+ — The mill of Skarvik ground", summary)
    assert re.findall(r"• Note (\d+)", summary) == [str(at) for at in range(12)]
    assert count_tokens(summary) <= 100


@given(
    st.lists(st.text(MARKS, max_size=200).map("# {}\n".format) | st.text(MARKS), max_size=12),
    st.integers(1, 90),
)
def test_a_folder_of_any_names_keeps_to_its_budget(children: list[str], budget: int) -> None:
    assert_safe_paragraph(listing(children, budget).replace("\n", " "), budget)
    assert_safe_paragraph(merged([listing(children, 90), *children], budget).replace("\n", " "), budget)
