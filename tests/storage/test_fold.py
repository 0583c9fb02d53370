"""Words as they are searched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape_storage.fold import MAX_TERMS, fold, query_terms


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
