"""Words as they are searched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape_storage import search
from mindscape_storage.contents import passages_by_id
from mindscape_storage.database import Connection
from mindscape_storage.fold import MAX_TERMS, fold, query_terms
from tests.storage.build import lines, put

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared")
CASES = SHARED / "data" / "cases"
WRITTEN = {
    "turkish": "İskelenin anahtarı IŞIK kutusunda, ığdır rafında.",
    "german": "Die Straße zum Fluß ist naß.",
    "ligatures": "A scientiﬁc eﬀort of the oﬃce ﬂoats in aﬄuence, ＡＢＣ１２３.",
    "hyphens": "The light-\nhouse keeper's soft\u00adware and the col\u00ad\nlector's zero\u200bwidth.",
    "arabic": "في المَدْرَســة مفتاح أحمد رقم ١٢٣",
    "hebrew": "הַמַּפְתֵּחַ שֶׁל הַמִּגְדַּלּוֹר",
    "japanese": "ｱﾊﾟｰﾄのカギは台所にある。",
    "accents": "Le cafe\u0301 d'A\u030angstro\u0308m",
}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Grüße GRÜSSE", "grüsse grüsse"),
        ("ﬁne eﬀort", "fine effort"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("exam-\nple", "example"),
        ("exam-\r\n   ple", "example"),
        ("exam\u2010\nple", "example"),
        ("soft\u00adware", "software"),
        ("soft\u00ad\nware", "software"),
        ("Jean-\nPaul", "jean paul"),
        ("1990-\n1995", "1990-\n1995"),
        ("well-known", "well-known"),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth", "zerowidth"),
        ("مَدْرَسَة", "مدرسة"),
        ("db后端", "db 后  端 "),
        ("カナ한글", " カ  ナ  한  글 "),
        ("ｶﾞ", " ガ "),
        ("a\0b", "a b"),
        ("Straße STRASSE", "strasse strasse"),
        ("İskelenin ISKELENİN ıskelenın", "iskelenin iskelenin iskelenin"),
        ("مـــدرسة", "مدرسة"),
        ("أحمد آمن إلى ٱسم", "احمد امن الي اسم"),
        ("كتاب‌ها کتاب", "كتابها كتاب"),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "שלום"),
        ("ｱﾊﾟｰﾄ", " ア  パ  ー  ト "),
        ("ＡＢＣ１２３", "abc123"),
        ("۲۰۲۴ ٢٠٢٤ २०२४", "2024 2024 2024"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
    ],
)
def test_spellings_of_one_word_become_one(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("multi-agent", [("multi", "agent"), ("multiagent",), ("multi",), ("agent",)]),
        ("don't", [("don", "t"), ("don",)]),
        ("山谷里", [("山", "谷"), ("谷", "里")]),
        ("山", [("山",)]),
        ("gen-itgc后", [("gen", "itgc"), ("genitgc",), ("gen",), ("itgc",), ("后",)]),
        ('say "dry, then salt"', [("dry", "then", "salt"), ("say",), ("dry",), ("then",), ("salt",)]),
        ("AND or NEAR( *", [("and",), ("or",), ("near",)]),
        ("the the THE", [("the",)]),
        ("हिन्दी", [("हिन्दी",)]),
        ('😀 ❤️ \0 "" \'', []),
        ("\ud800 lone", [("lone",)]),
        ("snake_case", [("snake", "case"), ("snake",), ("case",)]),
    ],
)
def test_a_query_is_the_words_in_it(query: str, terms: list[tuple[str, ...]]) -> None:
    assert query_terms(query) == terms


def test_a_query_that_never_ends_is_cut() -> None:
    assert len(query_terms(" ".join(f"w{n}" for n in range(10_000)))) == MAX_TERMS
    assert query_terms("word " * 100_000) == [("word",)]


@given(st.text())
def test_folding_any_text_gives_text_that_folds_to_the_same_words(text: str) -> None:
    once = fold(text)
    assert "\0" not in once
    assert fold(once).split() == once.split()


def best(conn: Connection, query: str) -> list[str]:
    hits = search.words(conn, query, 3)
    found = passages_by_id(conn, [hit.passage_id for hit in hits])
    return [found[hit.passage_id].text for hit in hits]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("ISKELENIN", "turkish"),
        ("iskelenin", "turkish"),
        ("ışık", "turkish"),
        ("IĞDIR", "turkish"),
        ("STRASSE", "german"),
        ("nass fluss", "german"),
        ("scientific", "ligatures"),
        ("office", "ligatures"),
        ("affluence", "ligatures"),
        ("abc123", "ligatures"),
        ("lighthouse", "hyphens"),
        ("software", "hyphens"),
        ("collector", "hyphens"),
        ("zerowidth", "hyphens"),
        ("المدرسة", "arabic"),
        ("احمد 123", "arabic"),
        ("המפתח", "hebrew"),
        ("アパート", "japanese"),
        ("ｶｷﾞ", "japanese"),
        ("CAFÉ", "accents"),
        ("ångström", "accents"),
    ],
)
def test_a_word_is_found_however_it_is_spelt(conn: Connection, query: str, name: str) -> None:
    for each, text in WRITTEN.items():
        put(conn, f"/notes/{each}.md".encode(), lines(text))
    assert best(conn, query)[:1] == [WRITTEN[name]]


def collected() -> list[tuple[str, str, str]]:
    """(case, query, file): what the cases made for known failures ask of the words alone."""
    asked: list[tuple[str, str, str]] = []
    if not CASES.is_dir():
        return asked
    for line in (CASES / "D01-fts-queries" / "queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["expect_file"] and "(" not in row["expect_file"]:
            asked.append(("D01-fts-queries/tree", row["q"], row["expect_file"]))
    for case, key in (("B10-ligatures", "queries"), ("E14-languages/tree", "questions")):
        for row in json.loads((CASES / case.split("/")[0] / "expected.json").read_text("utf-8"))[key]:
            if row.get("file", "").endswith(".md"):
                asked.append((case, row["q"], row["file"]))
    return asked


@pytest.mark.skipif(not CASES.is_dir(), reason=f"there are no cases in {SHARED}")
def test_the_cases_made_for_known_failures_are_found_by_words_alone(conn: Connection) -> None:
    asked = collected()
    assert len(asked) > 40
    for case in dict.fromkeys(case for case, _, _ in asked):
        for path in sorted((CASES / case).glob("*.md")):
            put(conn, f"/{case}/{path.name}".encode(), lines(path.read_text("utf-8")))
    missed = [
        (query, name)
        for case, query, name in asked
        if (CASES / case / name).read_text("utf-8") not in best(conn, query)
    ]
    assert missed == []
