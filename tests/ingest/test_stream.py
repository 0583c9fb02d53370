"""A text that passes through a window gives what the same text gives as a whole, wherever it is cut."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mindscape.ingest import runs as runs_module
from mindscape.ingest import stream as stream_module
from mindscape.ingest.decode import detect, line_starts
from mindscape.ingest.media_types import CODE, CSV, PARSERS, PLAIN, TSV
from mindscape.ingest.parsed import Parsed, Source
from mindscape.ingest.passages import cut
from mindscape.ingest.runs import MAX_RUN, MAX_SPACE, Window, runs
from mindscape.ingest.stream import TextStream
from mindscape_storage.records import NewPassage

PIECES = [
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\f",
    "The keeper wrote it down. ",
    "tide ",
    "x" * 90,
    "Dr. Lind said: 'No!' ",
    "天黑了。他走了！",
    "CHAPTER IV",
    "PART TWO",
    "第三章",
    "---",
    "a,b;c\t1|2",
    "    indented(call)",
    "}",
    "é\u0301\u200b",
]
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
TEXTS = st.lists(
    st.tuples(st.sampled_from(PIECES) | TEXT, st.sampled_from([1, 1, 1, 2, 3, 40, 300])),
    max_size=60,
).map(lambda parts: "".join(piece * times for piece, times in parts))
STREAMED = [PLAIN, CODE, CSV, TSV]


@pytest.fixture(autouse=True, scope="module")
def short_runs() -> Iterator[None]:
    """Lengths at which what Hypothesis draws reaches every rule."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_module, "MAX_RUN", 120)
        patch.setattr(runs_module, "MIN_RUN", 50)
        patch.setattr(stream_module, "MAX_HEADINGS", 5)
        yield


def whole(data: bytes, media_type: str) -> Parsed:
    module = importlib.import_module(f"mindscape.ingest.formats.{PARSERS[media_type]}")
    return module.parse(Source(Path("file"), data), media_type)


def streamed(data: bytes, media_type: str, size: int) -> tuple[list[NewPassage], TextStream]:
    module = importlib.import_module(f"mindscape.ingest.formats.{PARSERS[media_type]}")
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    stream = TextStream(pieces, detect(data), media_type, module.stream)
    return list(stream.passages()), stream


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(STREAMED), st.integers(1, 200))
@example("a\r\n" * 30, PLAIN, 2)
@example(" " * (3 * MAX_SPACE + 7) + "\r\n" * MAX_SPACE + "CHAPTER I\n\nIt.\n", PLAIN, 999)
@example("PART ONE\n\nCHAPTER I\n\n" * 400 + "End.", PLAIN, 50)
@example("CHAPTER I" + "\n" * (2 * MAX_SPACE + 1) + "CHAPTER II\n\nIt.", PLAIN, 4_000)
@example("if x:\n\n    y()\n\n" * 40 + "\n" * (MAX_SPACE + 5) + "    z()", CODE, 17)
def test_what_is_streamed_is_what_the_whole_text_gives(text: str, media_type: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    parsed = whole(data, media_type)
    passages, stream = streamed(data, media_type, size)
    if parsed.text.strip():
        assert passages == list(cut(parsed))
        assert stream.sections == parsed.sections
    assert stream.length == len(parsed.text)
    assert stream.warnings == parsed.warnings


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(1, 99), st.booleans())
def test_runs_joined_are_the_text_and_no_piece_of_it_is_long(text: str, size: int, blank_lines: bool) -> None:
    window = Window(text[at : at + size] for at in range(0, len(text), size))
    found = list(runs(window, blank_lines=blank_lines))
    assert "".join(run.text + run.space for run in found) == text
    assert [run.start for run in found] == [
        sum(len(run.text + run.space) for run in found[:place]) for place in range(len(found))
    ]
    assert all(run.text == run.text.strip() and (run.text or run.space) for run in found)
    assert all(len(run.text) <= runs_module.MAX_RUN and len(run.space) <= MAX_SPACE for run in found)


@given(TEXTS)
def test_runs_end_at_blank_lines_when_they_are_not_long(text: str) -> None:
    kept = [run.text for run in runs(Window([text])) if run.text]
    starts = [*line_starts(text), len(text)]
    lines = [text[a:b] for a, b in pairwise(starts)]
    expected: list[str] = [""]
    for line in lines:
        expected[-1] += line if line.strip() else ""
        if not line.strip() and expected[-1]:
            expected.append("")
    paragraphs = [paragraph.strip() for paragraph in expected if paragraph]
    if all(len(paragraph) < runs_module.MAX_RUN for paragraph in paragraphs):
        assert kept == paragraphs
    assert "".join("".join(kept).split()) == "".join("".join(paragraphs).split())


@given(TEXTS, st.integers(1, 50))
def test_lines_are_numbered_as_in_the_whole_file(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    text = whole(data, PLAIN).text
    starts = line_starts(text)
    for passage in streamed(data, PLAIN, size)[0]:
        assert passage.line == sum(start <= passage.start for start in starts)


def test_an_edit_moves_few_of_the_ends_that_long_runs_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "MAX_RUN", MAX_RUN)
    monkeypatch.setattr(runs_module, "MIN_RUN", MAX_RUN // 2)
    rng = random.Random(5)
    words = ["tide", "mill", "keeper", "ledger", "rope", "sluice", "barley", "winter"]
    sentences = [" ".join(rng.choices(words, k=9)).capitalize() + "." for _ in range(30_000)]
    for between in ("\n", " "):
        before = {run.text for run in runs(Window([between.join(sentences)]))}
        for at in (3, 15_000, 29_990):
            edited = [*sentences[:at], "A new remark.", *sentences[at:]]
            after = {run.text for run in runs(Window([between.join(edited)]))}
            assert 20 < len(before) < 60
            assert len(after - before) <= 3
