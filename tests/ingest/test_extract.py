"""A summary is made of the node's own sentences, reads alone, keeps to its budget, and is always the same."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ingest.candidates import candidates
from mindscape.ingest.extract import extract, joined
from mindscape.ingest.passages import count_tokens

MILL = [
    "# The mill\n\nAnna Lind bought the tide mill at Skarvik in 1911. She had never seen a mill before. "
    "The sluice of the mill was rotten, and the tide ran through it twice a day.\n\n",
    "However, it was cheap. “Who will grind for you?” asked the mayor. “I will,” she said. "
    "Anna Lind hired the miller Jonas Berg, who repaired the sluice of the tide mill within a year.\n\n",
    "```\nsluice = open(3)\n```\n\n| year | sacks |\n|---|---|\n| 1912 | 40 |\n\nThe children laughed a lot. "
    "By 1913 the tide mill ground the grain of all Skarvik, and Jonas Berg became its second owner. "
    "It rained in the spring, as it often does there.\n\n",
]
MARKS = "abcdefgh .,;:!?#*_[]()|`-\n\t\r\x00\x1b\x85\u202e\u200b\u0301夜は。、「」다\U0001f600\u0627\u061f"


def test_the_sentences_that_say_most_are_chosen_in_their_order() -> None:
    summary = extract(MILL, 60)
    assert summary.startswith("Anna Lind bought the tide mill at Skarvik in 1911.")
    assert "Jonas Berg" in summary
    assert not re.search(r"However|rained|laughed|“|sacks|open\(3\)|#", summary)
    places = ["".join(MILL).index(sentence) for sentence in re.split(r"(?<=[.]) ", summary)]
    assert places == sorted(places)


def test_text_that_fits_is_its_own_summary_without_markup() -> None:
    assert extract(["One  line\nof *two*.\n\nAnd [more](http://a.b/c) of `it`."], 50) == (
        "One line of two. And more of it."
    )
    assert extract(["## Buy\n\n- milk\n- [ ] [[notes/Bread|bread]]\n"], 50) == "Buy: milk; bread"


def test_a_single_summary_passes_through_unchanged() -> None:
    once = extract(MILL, 60)
    assert extract([once], 60) == once


def test_nothing_stays_nothing() -> None:
    assert extract([], 100) == ""
    assert extract(["", " \n\t\u200b"], 100) == ""


def test_chinese_sentences_are_joined_without_spaces() -> None:
    text = "林安娜在一九一一年买下了斯卡维克的潮汐磨坊。磨坊的水闸已经腐烂。她雇用了磨坊工人约纳斯。"
    other = "约纳斯在一年之内修好了潮汐磨坊的水闸。那年春天下了很多雨。孩子们在磨坊旁边玩耍。"
    summary = extract([text, other], 60)
    assert "潮汐磨坊" in summary
    assert " " not in summary
    assert all(sentence in text + other for sentence in summary.split("。"))


def test_lists_rows_and_code_speak_where_nothing_else_does() -> None:
    rows = "\n".join(f"| {year} | {year * 3} sacks |" for year in range(1900, 1990))
    assert "sacks" in extract([rows], 40)
    code = "```python\n" + "\n".join(f"run_{at}(mill)" for at in range(90)) + "\n```"
    assert "run_0" in extract([code], 40)
    items = "\n".join(f"- sack number {at} of rye" for at in range(90))
    assert "; " in extract([items], 40)


def test_a_sentence_longer_than_the_budget_ends_at_a_clause() -> None:
    sentence = "The mill ground rye and wheat for the whole town, " * 12 + "and then it burnt down."
    summary = extract([sentence], 50)
    assert summary.endswith("for the whole town…")
    assert count_tokens(summary) <= 50


def test_the_same_sentence_is_said_once() -> None:
    assert extract(["Rye is ground here. "] * 40, 100) == "Rye is ground here."


def test_links_templates_and_images_leave_their_words() -> None:
    text = 'See the [two\n  guides]({% page "a/b" %}) and ![pic](x.png) [it](http://a.b/(c)) <b>now</b>.[^1]'
    assert extract([text], 60) == "See the two guides and it now."


def test_properties_of_a_note_are_said_where_it_says_nothing_else() -> None:
    properties = (
        '---\ntags:\n  - "[[Mills]]"\n  - tide\nurl: https://a.b/c\nto: /b\nrating:\nyear: 1911\n---\n'
    )
    assert extract([properties], 60) == "tags: Mills, tide; year: 1911"
    assert extract([properties + "It grinds rye for all."], 60) == "It grinds rye for all."


def test_links_to_elsewhere_give_way_to_what_is_said_here() -> None:
    links = "See also [[Budget]] and [[Skarne trip]].\n\n- [The rules](rules.md)\n"
    assert extract([links], 60) == "See also Budget and Skarne trip. The rules"
    assert extract([links + "\nIt grinds rye for all."], 60) == "It grinds rye for all."


def test_a_sentence_goes_on_behind_initials() -> None:
    text = "The U.S. Web Design System is a guide for sites. It has parts for forms. "
    rest = "Rain fell on the mill. " * 3
    assert extract([text + rest], 16) == "The U.S. Web Design System is a guide for sites."


def test_names_in_templates_types_and_entities_stay_and_pictures_in_words_go() -> None:
    text = 'Ask in {% slack_channel "admins-mill" %} for R&amp;D of `Vec<u8>` now :white_check_mark:.'
    assert extract([text], 60) == "Ask in admins-mill for R&D of Vec<u8> now."
    assert extract(["*Ask Anna. She knows."], 60) == "Ask Anna. She knows."


def test_speech_and_what_leads_to_nothing_give_way_to_what_stands_alone() -> None:
    said = "“The mill of Skarvik is mine. It stays with Anna Lind.”\n\nThe clerk had options:\n\n"
    told = "Anna Lind kept the mill of Skarvik for all of her life in spite of that. "
    assert extract([said + told], 25) == told.strip()


def test_what_is_short_in_a_transcript_gives_way_and_speakers_are_not_run_together() -> None:
    turns = (
        "Prof Berg: Oh yeah, sure it does .\nAnna Lind: The sluice of the mill at\n"
        "Anna Lind: The sluice of the mill has to be mended before the spring.\nProf Berg: Um, okay then .\n"
        "Anna Lind: The sluice of the mill was to be mended in the spring before.\n"
    )
    assert re.fullmatch(r"Anna Lind: The sluice of the mill (has|was) to [^.]+[.]", extract([turns], 22))


@given(st.lists(st.text(MARKS, max_size=400), max_size=12), st.integers(1, 60))
def test_any_text_gives_one_safe_paragraph_within_the_budget(children: list[str], budget: int) -> None:
    summary = extract(children, budget)
    assert_safe_paragraph(summary, budget)
    assert extract(children, budget) == summary


@given(st.lists(st.text(max_size=300), max_size=6))
def test_text_of_any_characters_is_taken(children: list[str]) -> None:
    assert count_tokens(extract(children, 20)) <= 20


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "Rye. " * 100_000,
        "".join(f"Sack {at}. " for at in range(100_000)),
        "7 " * 300_000,
        "\U0001f600" * 200_000,
        "e" + "\u0301" * 200_000,
        "قال الطحان إن المد يأتي مرتين. " * 20_000,
        "天" * 300_000,
        "*a _b [c (d `e <f {g | \t" * 20_000,
        "\n" * 500_000 + "Rye.",
        "**" * 200_000,
        "[" * 200_000,
        "<!--" * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_give_a_bounded_summary(text: str) -> None:
    for children in ([text], [text[at::7] for at in range(12)]):
        assert count_tokens(extract(children, 160)) <= 160


def test_neither_hashing_nor_threads_decide() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("bdfgklmnprstaeiou", k=5)) for _ in range(99)]
    lines = [" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(300)]
    summaries = {extract(lines, 300)}
    for seed, threads in (("1", "1"), ("2", "2")):
        variables = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads}
        program = "import sys; from mindscape.ingest.extract import extract; "
        program += "sys.stdout.write(extract(sys.stdin.read().splitlines(), 300))"
        ran = subprocess.run(
            [sys.executable, "-c", program],
            input="\n".join(lines),
            env=variables,
            capture_output=True,
            text=True,
            check=True,
        )
        summaries.add(ran.stdout)
    assert len(summaries) == 1


def assert_safe_paragraph(summary: str, budget: int) -> None:
    assert count_tokens(summary) <= budget
    assert summary == " ".join(summary.split())
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in summary)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", summary)


def test_sentences_in_quotes_are_set_apart_by_a_space_where_their_script_has_spaces() -> None:
    english = "“Fatty’s gone.” “Nothing could drive him away,” Henry said."
    assert joined(list(candidates(english, 0))) == english
    chinese = "他说：“天黑了。”“我们走吧！”"
    assert joined(list(candidates(chinese, 0))) == chinese
