"""Every known kind of failure in watching, parsing, cutting and indexing has a test that is there."""

from __future__ import annotations

import re

import pytest
from tests.faults.cases.claims import is_a_test
from tests.faults.test_cases import SHARED

WATCHING = "tests/daemon/test_watching.py::test_"
LIBRARY = "tests/daemon/test_library.py::test_"
SCAN = "tests/ingest/test_scan.py::test_"
DECODE = "tests/ingest/test_decode.py::test_"
EPUB = "tests/ingest/formats/test_epub.py::test_"
DOCX = "tests/ingest/formats/test_docx.py::test_"
HTML = "tests/ingest/formats/test_html.py::test_"
MARKDOWN = "tests/ingest/formats/test_markdown.py::test_"
PDF = "tests/ingest/formats/test_pdf.py::test_"
LETTERS = "tests/ingest/formats/test_pdf_letters.py::test_"
LAYOUT = "tests/ingest/formats/test_pdf_layout.py::test_"
LIMITS = "tests/ingest/formats/test_limits.py::test_"
PASSAGES = "tests/ingest/test_passages.py::test_"
OFFSETS = "tests/ingest/test_offsets.py::test_"
STORAGE = "tests/storage/test_"

KINDS: dict[str, tuple[str, ...]] = {
    "A01": (f"{WATCHING}every_way_of_saving_is_one_edit_of_one_document",),
    "A02": (f"{WATCHING}folders_moved_in_about_and_out_are_followed",),
    "A03": (f"{WATCHING}folders_moved_in_about_and_out_are_followed",),
    "A04": (f"{SCAN}links_are_not_followed_and_loops_end",),
    "A05": (f"{WATCHING}a_rename_of_case_or_spelling_leaves_one_document",),
    "A06": (f"{WATCHING}at_the_limit_of_watches_a_root_is_polled_and_says_how_to_raise_it",),
    "A07": (
        f"{WATCHING}edits_whose_events_were_lost_in_an_overflow_are_found",
        f"{WATCHING}a_checkout_of_twenty_thousand_files_and_back_is_followed_while_questions_are_answered",
    ),
    "A08": (
        f"{WATCHING}a_file_that_arrives_in_pieces_ends_as_the_whole",
        "tests/daemon/test_bad_files.py::test_a_file_that_grows_while_it_is_read_ends_with_what_is_on_the_disk",
    ),
    "A09": (f"{WATCHING}a_rename_of_case_or_spelling_leaves_one_document",),
    "A10": (
        f"{WATCHING}a_network_mount_in_or_around_a_root_is_polled_and_said_so",
        f"{WATCHING}a_mount_that_vanishes_is_away_and_comes_back_for_nothing",
    ),
    "A11": (f"{WATCHING}reading_touching_and_changing_permissions_cost_at_most_a_hash",),
    "A12": (f"{WATCHING}times_that_stand_still_go_back_or_lie_in_the_future_hide_no_edit",),
    "A13": (f"{LIBRARY}changes_while_it_was_off_are_found_at_the_next_start",),
    "A14": (f"{WATCHING}what_may_not_be_read_is_said_and_read_once_it_may",),
    "A15": (f"{LIBRARY}names_that_are_not_utf8_are_indexed_and_shown_safely",),
    "A16": (f"{WATCHING}machine_folders_and_what_ignore_files_name_are_neither_indexed_nor_watched",),
    "A17": (f"{WATCHING}what_is_removed_while_it_is_embedded_is_embedded_no_further",),
    "A18": (f"{WATCHING}counts_add_up_to_the_files_seen",),
    "A19": (
        f"{LIBRARY}a_second_start_with_nothing_changed_computes_nothing",
        f"{WATCHING}a_library_moved_to_another_place_is_read_but_not_parsed_or_embedded_again",
    ),
    "B01": (f"{DECODE}wide_text_without_a_mark_is_recognised",),
    "B02": (f"{DECODE}legacy_text_is_guessed_and_says_so",),
    "B03": (
        f"{DECODE}a_few_bad_bytes_touch_nothing_around_them",
        f"{DECODE}a_file_of_two_halves_is_read_in_the_encoding_of_each",
    ),
    "B04": (f"{DECODE}a_preallocated_file_keeps_its_words_and_its_offsets",),
    "B05": (f"{EPUB}a_missing_chapter_is_a_warning_and_the_others_are_read",),
    "B06": (
        f"{EPUB}a_book_without_a_spine_is_read_by_its_manifest",
        f"{EPUB}odd_names_still_find_their_chapter",
        f"{EPUB}the_table_of_contents_names_chapters_and_opens_sections",
    ),
    "B07": (f"{EPUB}scrambled_fonts_do_not_protect_a_book_and_scrambled_chapters_do",),
    "B08": (f"{EPUB}notes_are_read_once_and_leave_their_sentence_whole_below_nested_contents",),
    "B09": (f"{PDF}pages_without_text_are_named",),
    "B10": (f"{STORAGE}fold.py::test_spellings_of_one_word_become_one",),
    "B11": (f"{STORAGE}fold.py::test_spellings_of_one_word_become_one",),
    "B12": (f"{PDF}an_empty_password_is_no_obstacle",),
    "B13": (f"{PDF}columns_are_read_one_after_the_other_below_their_heading",),
    "B14": (
        f"{LETTERS}a_line_drawn_twice_to_look_bold_is_read_once",
        f"{LAYOUT}a_page_of_fifty_metres_is_read_like_any_other",
        f"{LAYOUT}empty_pages_keep_the_numbers_of_the_others",
    ),
    "B15": (f"{DOCX}insertions_are_text_and_deletions_are_not",),
    "B16": (
        f"{DOCX}tables_stand_between_their_neighbours_with_header_and_merged_cells_once",
        f"{DOCX}notes_comments_edges_links_and_text_boxes_are_found",
    ),
    "B17": (f"{HTML}a_saved_page_gives_what_its_reader_reads", f"{HTML}text_nested_deeply_is_not_lost"),
    "B18": (f"{MARKDOWN}a_rule_is_not_front_matter",),
    "B19": (f"{MARKDOWN}broken_or_hostile_properties_lose_nothing",),
    "B20": (f"{MARKDOWN}sections_follow_commonmark_and_no_code_or_comment_is_a_heading",),
    "B21": (
        f"{LIMITS}a_part_that_is_larger_than_it_says_is_measured",
        f"{LIMITS}no_entity_explodes_or_opens_anything",
    ),
    "B22": (
        "tests/ingest/test_stream.py::test_what_is_streamed_is_what_the_whole_text_gives",
        f"{PASSAGES}a_long_table_is_cut_by_rows_and_carries_its_header",
    ),
    "C01": (f"{PASSAGES}a_run_without_spaces_is_never_cut_inside_a_character",),
    "C02": (f"{PASSAGES}a_line_of_two_megabytes_is_cut_within_the_maximum",),
    "C03": (f"{OFFSETS}any_text_in_any_format_keeps_the_law",),
    "C04": ("tests/ingest/formats/test_lines.py::test_four_times_the_lines_take_four_times_the_calls",),
    "C05": (f"{OFFSETS}places_behind_emoji_and_marks_are_counted_in_code_points",),
    "C06": (f"{DECODE}lines_end_at_lf_cr_and_crlf_only",),
    "C07": (f"{PASSAGES}a_long_table_is_cut_by_rows_and_carries_its_header",),
    "C08": (
        "tests/ask/test_retrieve.py::test_a_text_that_stands_in_three_files_is_one_result_naming_the_others",
    ),
    "C09": ("tests/ingest/test_parse.py::test_a_file_without_a_visible_character_is_empty",),
    "D01": (f"{STORAGE}search.py::test_no_query_is_an_error",),
    "D02": (f"{STORAGE}search.py::test_words_find_the_note_they_are_in",),
    "D03": (f"{STORAGE}check.py::test_derived_damage_is_found_and_repaired",),
    "D04": (
        f"{STORAGE}vectors.py::test_a_new_encoder_embeds_beside_the_old_one_and_then_replaces_it",
        f"{STORAGE}vectors.py::test_an_encoder_keeps_its_name_and_width",
    ),
    "D05": (f"{STORAGE}database.py::test_writing_inside_a_snapshot_is_refused_before_sqlite_does",),
    "D06": (f"{STORAGE}contents.py::test_reading_a_long_content_slowly_keeps_no_cursor_open",),
    "D07": ("tests/daemon/test_disk.py::test_a_library_on_a_network_folder_is_warned_of",),
    "D08": (
        "tests/faults/test_disk_full.py::test_a_full_disk_is_said_and_the_work_goes_on_when_there_is_room",
    ),
    "D09": (
        f"{STORAGE}forget.py::test_nothing_of_what_is_forgotten_stays_in_the_file",
        f"{STORAGE}forget.py::test_a_library_that_shrinks_takes_the_room_of_a_fresh_one",
    ),
    "D10": (f"{STORAGE}forget.py::test_a_file_edited_two_hundred_times_keeps_one_set_of_vectors",),
    "D11": (f"{STORAGE}search.py::test_a_narrow_scope_far_from_the_query_still_gives_all_it_has",),
    "D12": (f"{STORAGE}sqlite.py::test_a_python_that_loads_no_extensions_will_do",),
    "D13": (
        f"{STORAGE}crash.py::test_a_kill_at_any_write_loses_nothing_committed_and_the_step_can_be_done_again",
        "tests/daemon/test_kill.py::test_six_kills_lose_nothing",
    ),
}
"""Kind of failure -> tests for it; those with a folder among the known cases are tested by that too."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_failure_has_tests(kind: str) -> None:
    assert [name for name in KINDS[kind] if not is_a_test(name)] == []


def test_all_kinds_are_there() -> None:
    ends = {"A": 19, "B": 22, "C": 9, "D": 13}
    assert list(KINDS) == [f"{group}{n:02}" for group, last in ends.items() for n in range(1, last + 1)]
    listed = SHARED / "research" / "failure_reports.md"
    if listed.exists():
        assert list(KINDS) == re.findall(r"^### ([A-D]\d\d) ", listed.read_text("utf-8"), re.MULTILINE)
