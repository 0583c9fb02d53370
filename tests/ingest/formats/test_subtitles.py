"""Subtitles."""

from __future__ import annotations

from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.passages import cut

VTT = """WEBVTT - The Harbour
Kind: captions
Language: en

NOTE made by hand

STYLE
::cue { color: red }

intro
00:00.000 --> 00:02.000 align:start
<v Ann>It rained.

00:02.000 --> 00:04.000
All day.
"""


def test_a_webvtt_file_has_a_block_for_each_cue() -> None:
    result = parsed("a.vtt", VTT)
    assert result.title == "The Harbour"
    assert result.metadata == {"language": "en"}
    assert slices(result, "item") == [
        "intro\n00:00.000 --> 00:02.000 align:start\n<v Ann>It rained.",
        "00:02.000 --> 00:04.000\nAll day.",
    ]
    assert slices(result, "code") == ["STYLE\n::cue { color: red }"]


def test_cues_without_blank_lines_are_told_apart_by_their_numbers() -> None:
    srt = "1\n00:00:01,000 --> 00:00:02,000\nOne.\n2\n00:00:03,000 --> 00:00:04,000\nTwo\nlines.\n"
    assert slices(parsed("a.srt", srt), "item") == [
        "1\n00:00:01,000 --> 00:00:02,000\nOne.",
        "2\n00:00:03,000 --> 00:00:04,000\nTwo\nlines.",
    ]


def test_sbv_and_ass_have_cues_too() -> None:
    assert slices(
        parsed("a.sbv", "0:00:01.000,0:00:02.000\nOne.\n\n0:00:03.000,0:00:04.000\nTwo."), "item"
    ) == [
        "0:00:01.000,0:00:02.000\nOne.",
        "0:00:03.000,0:00:04.000\nTwo.",
    ]
    ass = "[Script Info]\nTitle: Harbour\n\n[Events]\nDialogue: 0:00:01.00,One\nDialogue: 0:00:02.00,Two"
    result = parsed("a.ass", ass)
    assert result.title == "Harbour"
    assert slices(result, "item") == ["Dialogue: 0:00:01.00,One", "Dialogue: 0:00:02.00,Two"]


def test_passages_start_at_cues() -> None:
    cue = "{0}\n00:{0:02}:00,000 --> 00:{0:02}:09,000\nThe tide came in once more, and nobody saw it.\n\n"
    result = parsed("a.srt", "".join(cue.format(number) for number in range(1, 60)))
    starts = {block.start for block in result.blocks}
    assert {passage.start for passage in cut(result)} <= starts
