"""One law for all formats: passages tile the text, places are code points, lines are an editor's lines."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed

from mindscape.ingest.decode import decode
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape.ingest.passages import cut

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared")
DATA = SHARED / "data"
SMALL = 1 << 20
QUICK = 30_000
"""Bytes of a stress file that the quick sample takes."""

SUFFIXES = [
    *[
        "txt",
        "md",
        "org",
        "rst",
        "adoc",
        "tex",
        "wiki",
        "textile",
        "typ",
        "vtt",
        "srt",
        "log",
        "py",
        "csv",
        "tsv",
    ],
    *["json", "yaml", "toml", "ini", "html", "xml", "fb2", "eml", "mbox", "rtf", "ipynb"],
]
PIECES = [
    *"abc .,;:!?\t\n\r\f\v\0\x1b\x85\u2028\ufeff#*-=_|<>[](){}\\&%$@'\"`~+/0123",
    *[
        "\r\n",
        "\n\n",
        "\r\r",
        "# ",
        "- ",
        "| a | b |\n",
        "```\n",
        "---\n",
        "<b>",
        "</b>",
        "<?xml?>",
        "{\\b ",
        "}",
    ],
    *[
        "cafe\u0301",
        "👩\u200d👩\u200d👧",
        "🇩🇪",
        "👍🏽",
        "न\u094dद",
        "한국",
        "水。",
        "ทะเล ",
        "שלום",
        "word ",
        "Dr. ",
        "\ufffd",
    ],
]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "gb18030"]


def assert_law(data: bytes, parsed: Parsed) -> None:
    """What must hold for any file, checked with the standard library alone where it can be."""
    text = parsed.text
    assert_well_formed(parsed)
    assert not re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]", text)
    assert not text.startswith("\ufeff")
    if parsed.text_like:
        assert text in (decode(data).text, decode(data, parsed.encoding).text)
    passages = list(cut(parsed))
    assert "".join(passage.text for passage in passages) == (text if text.strip() else "")
    # Where lines start for a program that knows the ends \n, \r and \r\n and no others.
    ends, at = [], 0
    for line in io.StringIO(text, newline=""):
        at += len(line)
        ends.append(at)
    line = 0
    for ordinal, passage in enumerate(passages):
        assert passage.ordinal == ordinal
        assert passage.text == text[passage.start : passage.end]
        while ends[line] <= passage.start:
            line += 1
        if parsed.text_like:
            assert passage.line == line + 1
    ids = [section.path for section in parsed.sections]
    assert all(passage.heading == () or passage.heading in ids for passage in passages)


def check(path: Path, data: bytes) -> bool:
    """True when the file was parsed, and keeps the law; False when it is refused."""
    try:
        parsed = parse(Source(path, data))
    except ParseFailure:
        return False
    assert_law(data, parsed)
    return True


@settings(max_examples=60)
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(1, 40), st.sampled_from(ENCODINGS))
def test_any_text_in_any_format_keeps_the_law(
    suffix: str, pieces: list[str], times: int, encoding: str
) -> None:
    check(Path(f"a.{suffix}"), ("".join(pieces) * times).encode(encoding, "replace"))


@settings(max_examples=40)
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(st.binary(max_size=400), st.integers(1, 20))
def test_any_bytes_in_any_format_keep_the_law(suffix: str, data: bytes, times: int) -> None:
    check(Path(f"a.{suffix}"), data * times)


FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_behind_emoji_and_marks_are_counted_in_code_points(encoding: str, end: str) -> None:
    text = end.join([f"# {FAMILY} e\u0301té", "", "🇩🇪 cafe\u0301 key", "", "## 👍🏽 Two", "", "lock", ""])
    parsed = parse(Source(Path("note.md"), text.encode(encoding)))
    assert parsed.text == text
    step = len(end)
    assert text.index("key") == 2 + 5 + 1 + 4 + 2 * step + 2 + 1 + 5 + 1
    first, second = parsed.sections
    assert (first.start, first.heading) == (0, f"{FAMILY} e\u0301té")
    assert (second.start, second.heading) == (text.index("##"), "👍🏽 Two")
    assert [text[block.start : block.end] for block in parsed.blocks][1] == "🇩🇪 cafe\u0301 key"
    assert [(passage.line, passage.start) for passage in cut(parsed)] == [(1, 0), (5, text.index("##"))]


def files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((DATA / folder).rglob("*")) if path.is_file()]
    return [path for path in found if path.stat().st_size <= SMALL and ".git" not in path.parts]


def checked(paths: list[Path]) -> int:
    parsed = 0
    for path in paths:
        try:
            parsed += check(path, path.read_bytes())
        except AssertionError as error:
            error.add_note(str(path))
            raise
    return parsed


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no files in {DATA}")
def test_real_files_keep_the_law() -> None:
    stress = [path for path in files("stress") if path.stat().st_size <= QUICK]
    assert checked(files("cases", "notes")[::10] + stress[::5]) > 60


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no files in {DATA}")
def test_all_real_files_keep_the_law() -> None:
    assert checked(files("cases", "notes", "stress")) > 800
