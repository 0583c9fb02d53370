"""Passages tile the text, keep within the maximum, and an edit moves only the boundaries near it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ingest.parsed import Block, Parsed
from mindscape.ingest.passages import MAX_TOKENS, MIN_TOKENS, count_tokens, cut
from mindscape.sentences import sentences
from mindscape_storage.records import Section

WORDS = [
    "the",
    "keeper",
    "of",
    "mill",
    "wrote",
    "that",
    "every",
    "tide",
    "carried",
    "12",
    "boats,",
    "and",
    "nobody",
]


def prose(seed: int, paragraphs: int) -> str:
    rng = random.Random(seed)
    out: list[str] = []
    for _ in range(paragraphs):
        lines = [
            " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 30))).capitalize() + rng.choice(".?!")
            for _ in range(rng.randint(1, 6))
        ]
        out.append(" ".join(lines))
    return "\n\n".join(out)


def plain(text: str, **fields: object) -> Parsed:
    return Parsed(text, "text/plain", text_like=True, **fields)  # pyright: ignore[reportArgumentType]


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(a < b for a, b in spans)


def test_sentences_end_where_a_reader_would_say() -> None:
    text = (
        'Dr. Lind met J. R. Hale at 5 p.m. there. "Stop!" she said. It cost 3.50 crowns. 天黑了。他走了！Fin'
    )
    found = [text[a:b].strip() for a, b in sentences(text)]
    assert found == [
        "Dr. Lind met J. R. Hale at 5 p.m. there.",
        '"Stop!" she said.',
        "It cost 3.50 crowns.",
        "天黑了。",
        "他走了！",
        "Fin",
    ]


@given(st.text(), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=5), st.randoms())
def test_passages_tile_any_text_whatever_the_blocks(
    text: str, spans: list[tuple[int, int]], rng: random.Random
) -> None:
    text = text * 5
    edges = sorted({min(n, len(text)) for span in spans for n in span})
    kinds = ("paragraph", "table", "code", "item", "heading", "properties")
    blocks = tuple(
        Block(rng.choice(kinds), a, b, header=rng.choice(["", "a | b"]))
        for a, b in zip(edges[::2], edges[1::2], strict=False)
        if a < b
    )
    sections = tuple(
        Section(i, 1, "h", start, len(text), ("h",)) for i, start in enumerate(edges) if start < len(text)
    )
    passages = list(cut(plain(text, blocks=blocks, sections=sections)))
    if not text.strip():
        assert passages == []
        return
    assert "".join(p.text for p in passages) == text
    assert [p.ordinal for p in passages] == list(range(len(passages)))
    assert all(p.text == text[p.start : p.end] for p in passages)


def test_a_line_of_two_megabytes_is_cut_within_the_maximum() -> None:
    for line in ("lorem ipsum " * 170_000, "x" * 2_000_000, "记忆" * 200_000):
        passages = list(cut(plain(line)))
        assert "".join(p.text for p in passages) == line
        assert max(count_tokens(p.text) for p in passages) <= MAX_TOKENS


def test_prose_passages_are_near_the_expected_size() -> None:
    sizes = [count_tokens(p.text) for p in cut(plain(prose(1, 400)))]
    assert min(sizes[:-1]) >= MIN_TOKENS
    assert max(sizes) <= MAX_TOKENS
    assert 130 <= sum(sizes) / len(sizes) <= 190


@pytest.mark.parametrize(
    "passages",
    [10, 100, pytest.param(1_000, marks=pytest.mark.slow), pytest.param(5_000, marks=pytest.mark.slow)],
)
def test_an_edited_paragraph_costs_the_embeddings_around_it_only(passages: int) -> None:
    rng = random.Random(passages)
    paragraphs = prose(passages, 2 * passages).split("\n\n")
    known = _inputs(paragraphs)
    costs: list[int] = []
    for number in range(200):
        at = rng.randrange(len(paragraphs)) if number % 20 else 0
        how = rng.choice(("edit", "edit", "edit", "sentence", "insert", "delete", "append"))
        if how == "sentence":
            paragraphs[at] += " A new remark."
        elif how == "delete" and len(paragraphs) > passages:
            del paragraphs[at]
        elif how == "append":
            paragraphs.append(prose(rng.getrandbits(32), 1))
        elif how == "edit":
            paragraphs[at] = prose(rng.getrandbits(32), 1)
        else:
            paragraphs.insert(at, prose(rng.getrandbits(32), 1))
        inputs = _inputs(paragraphs)
        costs.append(len(inputs - known))
        known = inputs
    assert max(costs) <= 12
    assert sum(costs) / len(costs) <= 3


def _inputs(paragraphs: list[str]) -> set[str]:
    """What is embedded of a document."""
    return {passage.embed_input for passage in cut(plain("\n\n".join(paragraphs)))}


def test_a_bare_heading_joins_the_section_below_it_and_lines_count_crlf_once() -> None:
    text = "# Book\r\n## One\r\nFirst words.\r\n## Two\r\nSecond words.\r\n"
    starts = [0, text.index("## One"), text.index("## Two")]
    paths = [("Book",), ("Book", "One"), ("Book", "Two")]
    sections = tuple(
        Section(i, min(i, 1) + 1, path[-1], start, len(text), path)
        for i, (start, path) in enumerate(zip(starts, paths, strict=True))
    )
    passages = list(cut(plain(text, sections=sections)))
    assert [p.heading for p in passages] == [("Book", "One"), ("Book", "Two")]
    assert [p.line for p in passages] == [1, 4]


def test_a_long_table_is_cut_by_rows_and_carries_its_header() -> None:
    rows = "".join(f"| item {n} | {n * 3} crowns |\n" for n in range(120))
    text = "| name | price |\n|---|---|\n" + rows
    passages = list(cut(plain(text, blocks=(Block("table", 0, len(text), "name | price"),))))
    assert len(passages) > 2
    assert all(p.text.endswith("|\n") for p in passages)
    assert all(p.embed_input.startswith("name | price\n") for p in passages[1:])


def test_a_block_of_code_that_fits_is_not_split() -> None:
    code = "```\n" + "".join(f"call_{n}(x)\n" for n in range(25)) + "```\n"
    before = "Some words before it. " * 12 + "\n\n"
    text = before + code + "After."
    block = Block("code", len(before), len(before) + len(code))
    assert any(code in p.text for p in cut(plain(text, blocks=(block,))))


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301\u0323", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "\u1112\u1161\u11ab", "ก\u0e33", "क\u094dष"],
)
def test_a_run_without_spaces_is_never_cut_inside_a_character(cluster: str) -> None:
    passages = list(cut(plain(cluster * 600)))
    assert len(passages) > 1
    assert all(len(passage.text) % len(cluster) == 0 for passage in passages)
    assert all(count_tokens(passage.text) <= MAX_TOKENS for passage in passages)


def test_a_letter_under_a_thousand_marks_is_cut_all_the_same() -> None:
    passages = list(cut(plain("z" + "\u0301" * 1000)))
    assert all(count_tokens(passage.text) <= MAX_TOKENS for passage in passages)
